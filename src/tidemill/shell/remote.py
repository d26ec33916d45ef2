"""A server, as the shell talks to it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from tidemill.client import Client, RequestError
from tidemill.client.errors import warning_of
from tidemill.engine import Report
from tidemill.engine.reports import report_of
from tidemill.errors import TidemillError, UnsupportedError
from tidemill.explain import Explanation
from tidemill.shell.backend import Named, ShellRows, ShellSnapshot
from tidemill.shell.naming import names_of, query_of
from tidemill.shell.splitting import name_in
from tidemill.timeline import VALID_FROM, VALID_TO
from tidemill.wire.base import Problem

_MOST = 1_000_000
"""Rows of an answer that are asked for; a server may send fewer."""

_PATIENCE = 10.0
"""Seconds to wait for ticks of a server; one on Spark makes none while there is nothing to do."""

_PAUSE = 0.05


class ServerBackend:
    """A server that is reached over HTTP."""

    def __init__(self, client: Client) -> None:
        self._client = client
        try:
            info = client.info()
        except TidemillError:
            client.close()
            raise
        where = "on Spark" if info.runtime == "spark" else "in its process"
        self._title = f"the server {info.version} at {client.url}, {where}"

    @property
    def title(self) -> str:
        """What the shell is connected to, in a few words."""
        return self._title

    def execute(self, sql: str) -> str | None:
        """Run one statement that is no SELECT; the name of the query that it started."""
        [result] = self._client.execute(sql)
        if result.query is not None:
            _warn(result.query.warnings, sql)
        return result.name

    def tell(self, sql: str) -> Report:
        """The answer to SHOW, DESCRIBE or EXPLAIN."""
        [result] = self._client.execute(sql)
        assert result.table is not None
        return report_of(result.table.columns, result.table.rows)

    def select(self, sql: str) -> ShellRows:
        """The answer to a SELECT over input that ends."""
        _warn(self._client.check(sql).warnings, sql)
        found = self._client.select(sql, _MOST)
        return ShellRows(found.table, found.truncated)

    def names(self) -> Sequence[Named]:
        """Everything that has a name."""
        return names_of(self._client.catalog(), self._client.queries())

    def query(self, name: str) -> Named:
        """One query, by the name as it was given."""
        return query_of(self._client.query(name))

    def explain(self, query: str, level: str) -> Explanation:
        """A plan; `query` is a SELECT or the name of a query."""
        name = name_in(query)
        found = self._client.plan(query) if name is None else self._client.plan_of(name)
        _warn(found.warnings if name is None else (), query)
        warned = tuple(warning_of(each) for each in found.warnings)
        return Explanation(level, tuple(found.lines[level]), warned)

    def snapshot(self, name: str, limit: int) -> ShellSnapshot:
        """The newest answer of a query that runs or ran, cut to a number of rows."""
        found = self._client.snapshot(name, limit=limit)
        rows = found.table.drop_columns([VALID_FROM, VALID_TO])
        if found.complete_until == 0:
            return ShellSnapshot(rows)
        return ShellSnapshot(rows, found.truncated, found.at, ended=found.complete_until is None)

    def push(self, stream: str, rows: Any) -> int:
        """Push rows, and wait until the queries that run have them; how many."""
        try:
            return self._client.push(stream, rows, wait=True)
        except RequestError as error:
            if error.kind != "conflict":
                raise
            return self._client.push(stream, rows)  # no query reads it yet: they wait

    def settle(self) -> None:
        """Wait until everything that is there now has been read: two ticks, of which one may
        have begun before."""
        until, patience = self._ticks() + 2, time.monotonic() + _PATIENCE
        while self._ticks() < until and time.monotonic() < patience:
            time.sleep(_PAUSE)

    def _ticks(self) -> int:
        return self._client.info().ticks

    def tick(self) -> int:
        """A server makes its ticks itself."""
        raise UnsupportedError("the server runs its own ticks", help="just wait")

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()


def _warn(problems: Iterable[Problem], sql: str) -> None:
    for problem in problems:
        warnings.warn(warning_of(problem, sql), stacklevel=2)
