"""A real `tidemill serve` in a process of its own, for tests that need one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
"""Seconds within which a server starts, and stops."""

_MAIN = "from tidemill.cli import main; main()"


class ServerProcess:
    """A server with its folder; it can be stopped, and started again on the same port."""

    def __init__(
        self,
        folder: Path,
        sql: str = "",
        *options: str,
        host: str = "127.0.0.1",
        port: int = 0,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.folder = folder
        self._patience = patience
        self._script = folder / "start.sql"
        self._script.write_text(sql)
        self._options, self._token = options, token
        self._host, self.port = host, port
        self._process: subprocess.Popen[str] | None = None
        self._headers = headers
        self.http = httpx.Client()

    # Its life

    def start(self) -> ServerProcess:
        """Come back when it answers."""
        self._log = (self.folder / "log.txt").open("w")
        self._process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            stderr=self._log,
            text=True,
            env=_environment(self._token),
        )
        self.port = int(self._announced()[1])
        self.http = httpx.Client(base_url=self.url, headers=self._headers, timeout=self._patience)
        return self

    @property
    def command(self) -> list[str]:
        """What is run."""
        where = ["--host", self._host, "--port", str(self.port), "--dir", str(self.folder / "kept")]
        script = [str(self._script)] if self._script.stat().st_size else []
        python = [sys.executable, "-c", _MAIN, "serve"]
        # It is on Spark by default, which takes its time.
        fabric = [] if "--runtime" in self._options else ["--runtime", "inprocess"]
        return [*python, *script, *where, *fabric, *self._options]

    def _announced(self) -> re.Match[str]:
        """Where it says that it is."""
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            if found := re.search(r"served at http://\S+?:(\d+)/", self.log):
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the server does not come up: {self.log}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it; how it ended."""
        self.http.close()
        self.process.send_signal(how)
        try:
            status = self.process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._log.close()
        return status

    @property
    def process(self) -> subprocess.Popen[str]:
        """The process itself."""
        assert self._process is not None
        return self._process

    @property
    def is_running(self) -> bool:
        """Whether there is something to stop."""
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """What it said since it was started."""
        return (self.folder / "log.txt").read_text()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self._host}:{self.port}"

    # What tests ask of it

    def run(self, sql: str) -> list[dict[str, Any]]:
        """Run statements."""
        return self._said(self.http.post("/api/statements", json={"sql": sql}))["results"]

    def push(self, stream: str, rows: Sequence[Mapping[str, Any]], *, wait: bool = False) -> None:
        """Push rows into a stream."""
        where = f"/api/streams/{stream}/rows"
        self._said(self.http.post(where, json=list(rows), params={"wait": wait}))

    def get(self, path: str, **parameters: Any) -> Any:
        """What a route under /api says."""
        return self._said(self.http.get(f"/api/{path}", params=parameters))

    def _said(self, response: httpx.Response) -> Any:
        assert response.is_success, f"{response.status_code}: {response.text}"
        return response.json()


def _environment(token: str | None) -> dict[str, str]:
    """The package of these sources is served, on few threads."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    secret = {} if token is None else {"TIDEMILL_TOKEN": token}
    plain = {"PYTHONPATH": os.pathsep.join(paths), "POLARS_MAX_THREADS": "1"}
    return {**os.environ, **plain, **secret}
