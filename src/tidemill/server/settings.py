"""How a server runs: where it listens, who may use it, and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tidemill.client.loopback import is_loopback
from tidemill.store import Durability

LOG_LEVELS = ("debug", "info", "warning", "error", "off")


@dataclass(frozen=True)
class Limits:
    """The most that a client may ask for."""

    body_bytes: int = 16 << 20
    sql_characters: int = 50_000
    statement_parts: int = 5000
    statement_tables: int = 24
    result_rows: int = 100_000
    kept_rows: int = 50_000
    queries: int = 500
    sockets: int = 500
    waiting_rows: int = 1_000_000
    wait_seconds: float = 30.0
    runs: int = 2
    run_seconds: float = 30.0
    tick_seconds: float = 30.0
    step_rows: int = 20_000_000
    plan_seconds: float = 10.0
    connections: int = 1000
    request_seconds: float = 30.0
    wrong_tokens: int = 60


@dataclass(frozen=True)
class Settings:
    """Where a server listens, what it needs to be told, and what it allows.

    >>> Settings().is_local, Settings(host="0.0.0.0").is_local
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 8321
    token: str | None = field(default=None, repr=False)
    read_token: str | None = field(default=None, repr=False, kw_only=True)
    tls_cert: Path | None = field(default=None, kw_only=True)
    tls_key: Path | None = field(default=None, kw_only=True)
    apply: bool = field(default=False, kw_only=True)
    folder: Path | None = None
    every: float = 0.1
    allow: tuple[str, ...] = ()
    runtime: str = "inprocess"
    memory: str | None = None
    cpu: float | None = None
    demo: bool = False
    limits: Limits = field(default_factory=Limits)
    late: str | None = None
    durability: Durability = "machine"
    latency: str = "1 second"
    partitions: int | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)
