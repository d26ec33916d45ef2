"""A Tidemill server, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from tidemill.algebra.tables import to_tables
from tidemill.client.live import Message, subscribed
from tidemill.client.rows import Changes, Rows, Snapshot
from tidemill.client.transport import Transport, path_to, request_of
from tidemill.wire.catalog import (
    CatalogEntries,
    DeletedRows,
    Heartbeat,
    Hint,
    InsertedRows,
    KnownStatistics,
    Reached,
    TakenRows,
)
from tidemill.wire.graph import Adapted, GraphReport, NewSizes, NodeHistory, ResourceReport
from tidemill.wire.parameters import to_json
from tidemill.wire.plans import PlanReport
from tidemill.wire.queries import (
    ChangedQuery,
    DroppedQuery,
    NewQuery,
    QueryEntry,
    QueryProgress,
    SettingsInForce,
    StartRequest,
)
from tidemill.wire.statements import (
    RunRequest,
    Script,
    ScriptCheck,
    ScriptResult,
    ServerInfo,
    StatementResult,
)

ROWS = 1000
"""How many rows of an answer are sent, if one does not say how many."""

Values = Mapping[str, Any] | Sequence[Any] | None
"""What is given for parameters: by name, or by place."""

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

    def info(self) -> ServerInfo:
        """The version of the server, its runtime, its ticks, and its limits."""
        return self._http.ask(ServerInfo, "GET", "info")

    # Statements

    def execute(self, sql: str, parameters: Values = None) -> list[StatementResult]:
        """Run the statements of a script, one by one; what each did.

        `parameters` are values for `:name` (a dict) or `?` (a list).
        """
        script = request_of(Script, sql=sql, parameters=to_json(parameters))
        return self._http.ask(ScriptResult, "POST", "statements", script).results

    def check(self, sql: str) -> ScriptCheck:
        """What is wrong with a script; nothing is run."""
        return self._http.ask(ScriptCheck, "POST", "check", Script(sql=sql))

    def select(
        self,
        sql: str,
        limit: int = ROWS,
        parameters: Values = None,
        at: int | None = None,
    ) -> Rows:
        """The answer to a SELECT over what is bounded: files, tables, and answers of queries.

        Those of queries are read `at` an instant, or at the newest one that is known.
        """
        given = to_json(parameters)
        wanted = request_of(RunRequest, sql=sql, limit=limit, parameters=given, at=at)
        table, facts = self._http.arrow("POST", "run", wanted, {})
        return Rows(table, **_taken(facts))

    def plan(self, sql: str) -> PlanReport:
        """The plan of a SELECT, at every level."""
        return self._http.ask(PlanReport, "POST", "plan", Script(sql=sql))

    # Streams and relations

    def catalog(self) -> CatalogEntries:
        """Everything that queries can read."""
        return self._http.ask(CatalogEntries, "GET", "catalog")

    def push(self, stream: str, rows: Any, wait: bool = False) -> int:
        """Push rows into a stream; how many.

        `rows` are dicts, or a table of pyarrow, polars or pandas; many are sent in several parts.
        With `wait`, they have been taken by a tick when this returns.
        """
        path, waits = path_to("streams", stream, "rows"), {"wait": str(wait).lower()}
        if isinstance(rows, list) and not rows:  # no table: the columns are not known
            return self._http.ask(TakenRows, "POST", path, [], waits).rows
        table = pa.concat_tables(to_tables(stream, rows))
        parts = (self._http.send_table(TakenRows, path, part, waits) for part in _parts(table))
        return sum(part.rows for part in parts)

    def heartbeat(self, stream: str, at: int) -> None:
        """Say that a stream has come to an instant: no rows of before will come."""
        wanted = request_of(Heartbeat, at=at)
        self._http.ask(Reached, "POST", path_to("streams", stream, "heartbeat"), wanted)

    def insert(self, relation: str, rows: list[dict[str, Any]], at: int | None = None) -> int:
        """Insert rows into a relation that changes; how many."""
        wanted = request_of(InsertedRows, rows=rows, at=at)
        return self._http.ask(
            TakenRows, "POST", path_to("relations", relation, "rows"), wanted
        ).rows

    def delete(self, relation: str, where: str | None = None, at: int | None = None) -> int:
        """Delete the rows of a relation for which a condition is true, or all; how many."""
        wanted = request_of(DeletedRows, where=where, at=at)
        return self._http.ask(
            TakenRows, "DELETE", path_to("relations", relation, "rows"), wanted
        ).rows

    def hint(self, stream: str | None = None, **known: Any) -> None:
        """Tell the planner what you know; as `Engine.hint`."""
        self._http.ask(KnownStatistics, "POST", "hints", request_of(Hint, stream=stream, **known))

    # Queries

    def queries(self) -> list[QueryEntry]:
        """All queries, and what they are doing."""
        return self._http.ask(list[QueryEntry], "GET", "queries")

    def query(self, name: str) -> QueryEntry:
        """One query."""
        return self._http.ask(QueryEntry, "GET", path_to("queries", name))

    def create(
        self,
        name: str,
        sql: str,
        start: bool = True,
        partial: bool = False,
        parameters: Values = None,
    ) -> QueryEntry:
        """Give a query a name, and let it run."""
        given = to_json(parameters)
        wanted = request_of(
            NewQuery, name=name, sql=sql, start=start, partial=partial, parameters=given
        )
        return self._http.ask(QueryEntry, "POST", "queries", wanted)

    def start(self, name: str, partial: bool = False) -> QueryEntry:
        """Let a query run; one that is `partial` may answer before it is complete."""
        wanted = StartRequest(partial=partial)
        return self._http.ask(QueryEntry, "POST", path_to("queries", name, "start"), wanted)

    def stop(self, name: str) -> QueryEntry:
        """Let a query rest."""
        return self._http.ask(QueryEntry, "POST", path_to("queries", name, "stop"))

    def alter(self, name: str, sql: str) -> QueryEntry:
        """Give a query another definition; if it runs, without a gap."""
        return self._http.ask(QueryEntry, "PATCH", path_to("queries", name), ChangedQuery(sql=sql))

    def optimize(self, name: str) -> QueryEntry:
        """Give a query that runs a better plan, if there is one."""
        wanted = ChangedQuery(optimize=True)
        return self._http.ask(QueryEntry, "PATCH", path_to("queries", name), wanted)

    def drop(self, name: str) -> None:
        """Forget a query; if it runs, it is stopped."""
        self._http.ask(DroppedQuery, "DELETE", path_to("queries", name))

    def progress(self, name: str) -> QueryProgress:
        """How far a query has come."""
        return self._http.ask(QueryProgress, "GET", path_to("queries", name, "progress"))

    def settings(self, name: str, start: int, end: int) -> SettingsInForce:
        """The sizes of windows and granules that answers in [start, end) were computed with."""
        path, span = path_to("queries", name, "settings"), {"from": start, "to": end}
        return self._http.ask(SettingsInForce, "GET", path, None, span)

    def plan_of(self, name: str) -> PlanReport:
        """The plan of a query that has a name."""
        return self._http.ask(PlanReport, "GET", path_to("queries", name, "plan"))

    # Results

    def snapshot(self, name: str, at: int | None = None, limit: int = ROWS) -> Snapshot:
        """The rows of a query that hold at an instant, or at the newest one that is complete."""
        path = path_to("queries", name, "snapshot")
        table, facts = self._http.arrow("GET", path, None, {"at": at, "limit": limit})
        return Snapshot(table, **_taken(facts, "at"))

    def results(
        self, name: str, start: int | None = None, end: int | None = None, limit: int = ROWS
    ) -> Rows:
        """The rows of a query that hold in [start, end), with their intervals."""
        path = path_to("queries", name, "results")
        span = {"from": start, "to": end, "limit": limit}
        table, facts = self._http.arrow("GET", path, None, span)
        return Rows(table, **_taken(facts))

    def changes(self, name: str, since: int = 0, limit: int = ROWS) -> Changes:
        """Rows that came and went since a cursor; the answer holds the next one."""
        path = path_to("queries", name, "changes")
        table, facts = self._http.arrow("GET", path, None, {"since": since, "limit": limit})
        return Changes(table, **_taken(facts, "cursor", "missed"))

    # What runs

    def graph(self) -> GraphReport:
        """The running graph: its parts, and what they do."""
        return self._http.ask(GraphReport, "GET", "graph")

    def node_history(self, node: int) -> NodeHistory:
        """What a part of the graph did lately."""
        return self._http.ask(NodeHistory, "GET", path_to("graph", "nodes", node, "history"))

    def resize(self, sizes: Mapping[str, int], at: int = 0) -> Adapted:
        """Set sizes of windows and granules; returns from which instant each size counts."""
        wanted = request_of(NewSizes, sizes=dict(sizes), at=at)
        return self._http.ask(Adapted, "POST", "graph/sizes", wanted)

    def resources(self) -> ResourceReport:
        """Memory and processing: bounds, measurements, and what was adapted."""
        return self._http.ask(ResourceReport, "GET", "resources")

    def subscribe(
        self, *topics: str, every: int = 500
    ) -> AbstractContextManager[Iterator[Message]]:
        """Messages about topics (`"graph"`, `"queries"`, `"results:NAME"`), as they come.

        Each sends at most one in `every` milliseconds: the newest state counts.
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
