"""A Tidemill server, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from tidemill.client.live import Message, subscribed
from tidemill.client.models import (
    Catalog,
    Changes,
    Check,
    Plan,
    QueryInfo,
    Rows,
    Snapshot,
    StatementResult,
)
from tidemill.client.transport import Transport, path_to
from tidemill.engine.tables import to_tables

ROWS = 1000
"""How many rows of an answer are sent, if one does not say how many."""

_PART = 4 << 20
"""Bytes that are sent at once."""


class Client:
    """Speaks with a server; its errors are those that an engine would raise.

    Instants are integers: ticks, or microseconds since 1970. Rows are tables of Arrow. The
    `token` is the one with which the server was started, if it needs one.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8321", token: str | None = None, timeout: float = 30.0
    ) -> None:
        self.url = url
        self._token = token
        self._timeout = timeout
        self._http = Transport(url, token, timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def info(self) -> dict[str, Any]:
        """The version of the server, its runtime, its ticks, and its limits."""
        return dict(self._http.json("GET", "info"))

    # Statements

    def execute(self, sql: str) -> list[StatementResult]:
        """Run the statements of a script, one by one; what each did."""
        found = self._http.json("POST", "statements", {"sql": sql})
        return [StatementResult.of(each) for each in found["results"]]

    def check(self, sql: str) -> Check:
        """What is wrong with a script; nothing is run."""
        return Check.of(self._http.json("POST", "check", {"sql": sql}))

    def select(self, sql: str, limit: int = ROWS) -> Rows:
        """The answer to a SELECT over what is bounded: files and tables."""
        table, facts = self._http.arrow("POST", "run", {"sql": sql, "limit": limit})
        return Rows(table, **_taken(facts))

    def plan(self, sql: str) -> Plan:
        """The plan of a SELECT, at every level."""
        return Plan.of(self._http.json("POST", "plan", {"sql": sql}))

    # Streams and relations

    def catalog(self) -> Catalog:
        """Everything that queries can read."""
        return Catalog.of(self._http.json("GET", "catalog"))

    def push(self, stream: str, rows: Any, wait: bool = False) -> int:
        """Push rows into a stream; how many.

        `rows` are dicts, or a table of pyarrow, polars or pandas; many are sent in several parts.
        With `wait`, they have been taken by a tick when this returns.
        """
        path, waits = path_to("streams", stream, "rows"), str(wait).lower()
        if isinstance(rows, list) and not rows:  # no table: the columns are not known
            return int(self._http.json("POST", path, [], wait=waits)["rows"])
        table = pa.concat_tables(to_tables(stream, rows))
        parts = [self._http.send_table(path, part, wait=waits) for part in _parts(table)]
        return sum(int(part["rows"]) for part in parts)

    def heartbeat(self, stream: str, at: int) -> None:
        """Say that a stream has come to an instant: no rows of before will come."""
        self._http.json("POST", path_to("streams", stream, "heartbeat"), {"at": at})

    def insert(self, relation: str, rows: list[dict[str, Any]], at: int | None = None) -> int:
        """Insert rows into a relation that changes; how many."""
        body = {"rows": rows} | ({} if at is None else {"at": at})
        return int(self._http.json("POST", path_to("relations", relation, "rows"), body)["rows"])

    def delete(self, relation: str, where: str | None = None, at: int | None = None) -> int:
        """Delete the rows of a relation for which a condition is true, or all; how many."""
        given = {"where": where, "at": at}
        body = {name: value for name, value in given.items() if value is not None}
        return int(self._http.json("DELETE", path_to("relations", relation, "rows"), body)["rows"])

    def hint(self, stream: str | None = None, **known: Any) -> None:
        """Tell the planner what you know; as `Engine.hint`."""
        given = {"stream": stream, **known}
        body = {name: value for name, value in given.items() if value is not None}
        self._http.json("POST", "hints", body)

    # Queries

    def queries(self) -> list[QueryInfo]:
        """All queries, and what they are doing."""
        return [QueryInfo.of(each) for each in self._http.json("GET", "queries")]

    def query(self, name: str) -> QueryInfo:
        """One query."""
        return QueryInfo.of(self._http.json("GET", path_to("queries", name)))

    def create(self, name: str, sql: str, start: bool = True, partial: bool = False) -> QueryInfo:
        """Give a query a name, and let it run."""
        body = {"name": name, "sql": sql, "start": start, "partial": partial}
        return QueryInfo.of(self._http.json("POST", "queries", body))

    def start(self, name: str, partial: bool = False) -> QueryInfo:
        """Let a query run; one that is `partial` may answer before it is complete."""
        body = {"partial": partial}
        return QueryInfo.of(self._http.json("POST", path_to("queries", name, "start"), body))

    def stop(self, name: str) -> QueryInfo:
        """Let a query rest."""
        return QueryInfo.of(self._http.json("POST", path_to("queries", name, "stop")))

    def alter(self, name: str, sql: str) -> QueryInfo:
        """Give a query another definition; if it runs, without a gap."""
        return QueryInfo.of(self._http.json("PATCH", path_to("queries", name), {"sql": sql}))

    def optimize(self, name: str) -> QueryInfo:
        """Give a query that runs a better plan, if there is one."""
        body = {"optimize": True}
        return QueryInfo.of(self._http.json("PATCH", path_to("queries", name), body))

    def drop(self, name: str) -> None:
        """Forget a query; if it runs, it is stopped."""
        self._http.json("DELETE", path_to("queries", name))

    def progress(self, name: str) -> dict[str, Any]:
        """How far a query has come."""
        return dict(self._http.json("GET", path_to("queries", name, "progress")))

    def settings(self, name: str, start: int, end: int) -> dict[str, Any]:
        """The sizes of windows and granules that answers in [start, end) were computed with."""
        path = path_to("queries", name, "settings")
        return dict(self._http.json("GET", path, **{"from": start, "to": end}))

    def plan_of(self, name: str) -> Plan:
        """The plan of a query that has a name."""
        return Plan.of(self._http.json("GET", path_to("queries", name, "plan")))

    # Results

    def snapshot(self, name: str, at: int | None = None, limit: int = ROWS) -> Snapshot:
        """The rows of a query that hold at an instant, or at the newest one that is complete."""
        path = path_to("queries", name, "snapshot")
        table, facts = self._http.arrow("GET", path, at=at, limit=limit)
        return Snapshot(table, **_taken(facts, "at"))

    def results(
        self, name: str, start: int | None = None, end: int | None = None, limit: int = ROWS
    ) -> Rows:
        """The rows of a query that hold in [start, end), with their intervals."""
        path = path_to("queries", name, "results")
        table, facts = self._http.arrow("GET", path, **{"from": start, "to": end, "limit": limit})
        return Rows(table, **_taken(facts))

    def changes(self, name: str, since: int = 0, limit: int = ROWS) -> Changes:
        """Rows that came and went since a cursor; the answer holds the next one."""
        path = path_to("queries", name, "changes")
        table, facts = self._http.arrow("GET", path, since=since, limit=limit)
        return Changes(table, **_taken(facts, "cursor", "missed"))

    # What runs

    def graph(self) -> dict[str, Any]:
        """The running graph: its parts, and what they do."""
        return dict(self._http.json("GET", "graph"))

    def node_history(self, node: int) -> dict[str, Any]:
        """What a part of the graph did lately."""
        return dict(self._http.json("GET", path_to("graph", "nodes", node, "history")))

    def resize(self, sizes: Mapping[str, int], at: int | None = None) -> dict[str, Any]:
        """Set sizes of windows and granules; from when on which size counts."""
        body = {"sizes": dict(sizes)} | ({} if at is None else {"at": at})
        return dict(self._http.json("POST", "graph/sizes", body))

    def resources(self) -> dict[str, Any]:
        """Memory and processing: bounds, measurements, and what was adapted."""
        return dict(self._http.json("GET", "resources"))

    def subscribe(
        self, *topics: str, every: int = 500
    ) -> AbstractContextManager[Iterator[Message]]:
        """Messages about topics (`"graph"`, `"queries"`, `"results:NAME"`), as they come.

        At most one in `every` so many milliseconds of each: the newest state counts.
        """
        return subscribed(self._http.url, self._token, topics, every, self._timeout)


def _parts(table: pa.Table) -> Iterator[pa.Table]:
    """A table in parts that servers take."""
    size = max(1, table.num_rows * _PART // max(table.nbytes, 1))
    for start in range(0, max(table.num_rows, 1), size):
        yield table.slice(start, size)


def _taken(facts: Mapping[str, Any], *more: str) -> dict[str, Any]:
    names = ("truncated", "complete_until", *more)
    return {name: facts[name] for name in names if name in facts}
