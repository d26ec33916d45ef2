"""Connections to a PostgreSQL server that may be away for a while."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from tidemill.connectors.durations import seconds
from tidemill.errors import ExecutionError
from tidemill.sql import OptionValue

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

LOG = logging.getLogger("tidemill.connectors.postgres")

CONNECTION_OPTIONS = ("url", "host", "port", "dbname", "user", "password", "retry")
"""What a source or sink may say about the server; libpq's environment fills in the rest."""

_PATIENCE = 30.0
_LONGEST_PAUSE = 5.0

# A server that is gone without a word must be found out before anybody's patience ends.
_CAREFUL = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5}

# What waiting does not cure. In other languages such a message is only found out later.
_HOPELESS = re.compile(
    r"authentication failed|does not exist|no password|pg_hba\.conf|permission denied for database"
    r"|not translate host name|not support SSL|certificate"
)


@dataclass(frozen=True)
class Server:
    """Where a server is, and for how many seconds to wait for it.

    >>> print(Server({"host": "db", "port": "5433", "dbname": "shop", "password": "secret"}))
    db:5433/shop
    """

    parameters: Mapping[str, Any] = field(repr=False)
    patience: float = _PATIENCE

    @staticmethod
    def of(options: Mapping[str, OptionValue]) -> Server:
        """The server that options name."""
        given: dict[str, Any] = {n: options[n] for n in CONNECTION_OPTIONS if options.get(n)}
        url, retry = str(given.pop("url", "")), given.pop("retry", None)
        patience = _PATIENCE if retry is None else seconds(retry)
        try:
            return Server(conninfo_to_dict(url, **given), patience)
        except psycopg.ProgrammingError:
            # libpq's own words would repeat the text, and with it perhaps a password.
            raise ExecutionError(
                "the option url is neither a PostgreSQL URL nor libpq's list of settings",
                help="as in url => 'postgresql://user@host:5432/database'",
            ) from None

    def __str__(self) -> str:
        known = {o.keyword.decode(): o.val.decode() for o in pq.Conninfo.get_defaults() if o.val}
        known |= {name: str(value) for name, value in self.parameters.items()}
        host = known.get("host") or known.get("hostaddr") or "local socket"
        database = known.get("dbname") or known.get("user", "")
        return f"{host}:{known.get('port', '5432')}/{database}"

    def shown(self, error: Exception) -> str:
        """What the server or the library said, on one line and without the password."""
        text = " ".join(str(error).split())
        password = str(self.parameters.get("password") or "")
        return text.replace(password, "***") if password else text


def attempt(server: Server, work: Callable[[Connection], T]) -> T:
    """Do work over a fresh connection, again while the server is away, but not for ever.

    Work must be one transaction, and find out by itself whether it was done already: an answer to
    COMMIT may be lost.
    """
    deadline = time.monotonic() + server.patience
    for pause in _pauses():
        try:
            settings: dict[str, Any] = _CAREFUL | dict(server.parameters)
            with psycopg.connect(**settings, client_encoding="utf8", autocommit=True) as connection:
                return work(connection)
        except psycopg.OperationalError as error:
            left = deadline - time.monotonic()
            if left < pause or _HOPELESS.search(str(error)):
                raise _away(server, error) from error
            LOG.warning(
                "PostgreSQL at %s: %s; trying again for %.0f s", server, server.shown(error), left
            )
            time.sleep(pause)
        except psycopg.Error as error:
            raise ExecutionError(f"PostgreSQL at {server}: {server.shown(error)}") from error
    raise AssertionError("pauses have no end")


def _pauses() -> Iterator[float]:
    pause = 0.1
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


def _away(server: Server, error: Exception) -> ExecutionError:
    waited = "" if _HOPELESS.search(str(error)) else f" for {server.patience:.0f} s"
    return ExecutionError(
        f"PostgreSQL at {server} cannot be used{waited}: {server.shown(error)}",
        help="check the server and start the query again: with its checkpoint it resumes where it "
        "was, and nothing is lost; retry => '5 minutes' waits longer",
    )
