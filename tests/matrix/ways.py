"""The ways to run queries, each behind the same few calls: declare, push, ask, settle, read.

A capability is tried in all of them by the same code. On a server, everything that happens after
its start goes over HTTP.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

import tidemill as tm
from tidemill.engine.query import Query
from tidemill.engine.running import RunningGraph
from tidemill.engine.started import StartedQuery
from tidemill.errors import TidemillError
from tidemill.server import Settings, begin, create_app

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have another version of httpx
    from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8321"
PATIENCE = 60.0
"""Seconds within which what must happen by itself happens, on a machine that has other work."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """A query with a place for its results; on a server, who starts it may be the one to ask."""

    sql: str
    sink: Any = None
    form: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def statement(self) -> str:
        """The query with its sink in SQL."""
        if self.sink is None:
            return self.sql
        options = dict(self.options) | ({} if self.form is None else {"form": self.form})
        given = ", ".join(f"{name} => {_literal(value)}" for name, value in options.items())
        return f"INSERT INTO {self.sink}({given}) {self.sql}"


def _literal(value: Any) -> str:
    return str(value).upper() if isinstance(value, bool | int) else f"'{value}'"


@dataclass
class Setup:
    """On which fabric, and what is the same for all ways."""

    fabric: str
    folder: Path
    session: Any = None
    checkpoint: Path | None = None
    late: Any = None
    memory: str | None = None
    partitions: int | None = 2

    def engine(self) -> tm.Engine:
        """An engine on the fabric."""
        more: dict[str, Any] = {"partitions": self.partitions, "memory": self.memory}
        if self.fabric == "spark":
            return tm.Engine(spark=self.session, **more)
        return tm.Engine(runtime="inprocess", **more)

    @property
    def kept_in(self) -> str | None:
        return None if self.checkpoint is None else str(self.checkpoint)


class Way(ABC):
    """One way to run queries. `ask` starts them, together where that is the way."""

    name: str
    said: str
    """The way in a few words, for the head of the table."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def __enter__(self) -> Way:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    @abstractmethod
    def declare(self, sql: str) -> None:
        """Run statements that make or drop streams and relations, or change these."""

    @abstractmethod
    def push(self, stream: str, rows: Sequence[Mapping[str, Any]]) -> None: ...

    @abstractmethod
    def beat(self, stream: str, at: int) -> None:
        """Say that a stream has come to an instant."""

    @abstractmethod
    def hint(self, stream: str, rate: float, distinct: Mapping[str, float]) -> None:
        """Tell the planner what a stream brings."""

    @abstractmethod
    def ask(self, **queries: str | Asked) -> None: ...

    @abstractmethod
    def settle(self) -> None:
        """Come back when everything that is there was read; failed queries do not matter."""

    @abstractmethod
    def rows(self, name: str, times: Sequence[str] = ("valid_from", "valid_to")) -> list[Row]:
        """What is known of the answer, in order."""

    @abstractmethod
    def error(self, name: str) -> str | None:
        """Why a query failed."""

    @abstractmethod
    def stop(self, name: str) -> None: ...

    @abstractmethod
    def migrate(self, name: str, sql: str) -> None:
        """Let a query that runs ask for something else."""

    @abstractmethod
    def adapt(self, name: str, sizes: Mapping[str, int]) -> None:
        """Set sizes of windows of a query that runs."""

    @abstractmethod
    def sizes(self, name: str) -> dict[str, list[list[int]]]:
        """Which sizes were set, and from which instant on."""

    @abstractmethod
    def late(self) -> int:
        """How many rows came too late."""

    @abstractmethod
    def close(self) -> None: ...

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for what happens by itself."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, "it does not happen"
            time.sleep(0.02)


def in_order(table: pa.Table) -> list[Row]:
    """The rows of a table, in an order that is always the same."""
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=_key)


def _key(row: Row) -> tuple[tuple[bool, Any], ...]:
    return tuple((value is None, 0 if value is None else value) for value in row)


class InPython(Way):
    """The ways that a program has: it holds the engine."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.engine = setup.engine()

    def declare(self, sql: str) -> None:
        self.engine.sql(sql)

    def push(self, stream: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.engine.push(stream, list(rows))

    def hint(self, stream: str, rate: float, distinct: Mapping[str, float]) -> None:
        self.engine.hint(stream, rate=rate, distinct=distinct)

    def query(self, asked: str | Asked) -> Query:
        """A query with its sink, which is `memory` if nothing else is said."""
        wanted = asked if isinstance(asked, Asked) else Asked(asked)
        query = self.engine.sql(wanted.sql)
        assert query is not None
        return query.into(wanted.sink or "memory", form=wanted.form, **wanted.options)

    def close(self) -> None:
        self.engine.close()


class Collect(InPython):
    """The rows of a query whose input ends, at once."""

    name, said = "collect", "`collect()`"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.asked: dict[str, Query] = {}

    def beat(self, stream: str, at: int) -> None:
        """The end of the input says more."""

    def ask(self, **queries: str | Asked) -> None:
        self.asked |= {name: self.query(asked) for name, asked in queries.items()}

    def settle(self) -> None:
        """Rows are read when the answer is."""

    def rows(self, name: str, times: Sequence[str] = ("valid_from", "valid_to")) -> list[Row]:
        return in_order(self.asked[name].collect())

    def error(self, name: str) -> str | None:
        try:
            self.asked[name].collect()
        except TidemillError as error:
            return error.message
        return None

    def stop(self, name: str) -> None:
        del self.asked[name]

    def migrate(self, name: str, sql: str) -> None:
        raise AssertionError("refused")

    def adapt(self, name: str, sizes: Mapping[str, int]) -> None:
        raise AssertionError("refused")

    def sizes(self, name: str) -> dict[str, list[list[int]]]:
        raise AssertionError("refused")

    def late(self) -> int:
        return max(query.progress.late_rows for query in self.asked.values())


class Running(InPython):
    """The ways in which a program lets queries run."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.started: dict[str, StartedQuery] = {}

    def beat(self, stream: str, at: int) -> None:
        for query in self.started.values():
            if query.is_active and stream in query.depends_on:
                query.heartbeat(stream, at)

    def settle(self) -> None:
        for query in self.started.values():
            if query.is_active:
                _settle(query.process_all_available)

    def rows(self, name: str, times: Sequence[str] = ("valid_from", "valid_to")) -> list[Row]:
        return in_order(self.started[name].results())

    def error(self, name: str) -> str | None:
        found = self.started[name].exception()
        assert found is None or isinstance(found, TidemillError), found
        return None if found is None else found.message

    def stop(self, name: str) -> None:
        self.started[name].stop()

    def migrate(self, name: str, sql: str) -> None:
        self.started[name].migrate(sql)

    def adapt(self, name: str, sizes: Mapping[str, int]) -> None:
        self.started[name].adapt(sizes)

    def sizes(self, name: str) -> dict[str, list[list[int]]]:
        told = self.started[name].progress.sizes
        return {knob: [list(each) for each in history] for knob, history in told.items()}

    def late(self) -> int:
        return max(query.progress.late_rows for query in self.started.values())


def _settle(read_all: Callable[[], None]) -> None:
    """A query that has failed says so here, too; whoever wants to know asks for its error."""
    with suppress(TidemillError):
        read_all()


class Start(Running):
    """Every query in a graph of its own."""

    name, said = "start", "`q.start()`"

    def ask(self, **queries: str | Asked) -> None:
        for name, asked in queries.items():
            kept = self.setup.kept_in
            self.started[name] = self.query(asked).start(
                checkpoint=kept and f"{kept}/{name}", late=self.setup.late
            )


class Several(Running):
    """Queries that are started together, in a graph of their own; there are at least two."""

    name, said = "several", "`engine.start(a, b)`"

    def ask(self, **queries: str | Asked) -> None:
        made = {name: self.query(asked) for name, asked in queries.items()}
        if len(made) == 1:
            made |= {f"beside {n}": q.into(_nowhere, form=q.sink.form) for n, q in made.items()}
        together = self.engine.start(
            *made.values(), checkpoint=self.setup.kept_in, late=self.setup.late
        )
        self.started |= dict(zip(made, together.queries, strict=True))

    def stop(self, name: str) -> None:
        for each in (name, f"beside {name}"):
            if each in self.started:
                self.started[each].stop()


def _nowhere(table: pa.Table, tick: int) -> None:
    """A sink for a query that is there to be beside another."""


class Graph(Running):
    """Queries that join the running graph, one by one."""

    name, said = "graph", "`engine.run()`, `q.start()`"

    @cached_property
    def graph(self) -> RunningGraph:
        """The graph, which runs from the first query on: by then a checkpoint finds its streams."""
        return self.engine.run(checkpoint=self.setup.kept_in, late=self.setup.late)

    def ask(self, **queries: str | Asked) -> None:
        graph = self.graph
        with graph.together():
            for name, asked in queries.items():
                self.started[name] = self.query(asked).start(name=name)

    def beat(self, stream: str, at: int) -> None:
        self.graph.heartbeat(stream, at)

    def settle(self) -> None:
        _settle(self.graph.process_all_available)


class Server(Way):
    """Queries behind HTTP. What is declared before the start is in the file it is started with."""

    name, said = "server", "`tidemill serve`"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.script: list[str] = []
        self.allow: tuple[str, ...] = (str(setup.folder),)
        self._client: TestClient | None = None

    @property
    def http(self) -> TestClient:
        """A client; the server is started when somebody wants something of it."""
        if self._client is None:
            setup = self.setup
            settings = Settings(
                every=0.02,
                runtime=setup.fabric,
                folder=setup.checkpoint,
                late=setup.late,
                memory=setup.memory,
                allow=self.allow,
                partitions=setup.partitions,
            )
            self.service = begin(settings, ";\n".join(self.script))
            self._client = TestClient(create_app(self.service, settings), base_url=BASE)
            self._client.__enter__()
        return self._client

    def said_to(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """What a route answers; what it refuses is raised."""
        answer = self.http.request(method, f"/api/{path}", json=body, params=parameters)
        told = answer.json()
        if not answer.is_success:
            wrong = told["error"]
            raise TidemillError(wrong["message"], help=wrong["help"])
        return told

    def declare(self, sql: str) -> None:
        if self._client is None:
            self.script.append(sql)
        else:
            self.said_to("POST", "statements", {"sql": sql})

    def push(self, stream: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.said_to("POST", f"streams/{stream}/rows", list(rows))

    def beat(self, stream: str, at: int) -> None:
        self.said_to("POST", f"streams/{stream}/heartbeat", {"at": at})

    def hint(self, stream: str, rate: float, distinct: Mapping[str, float]) -> None:
        self.said_to("POST", "hints", {"stream": stream, "rate": rate, "distinct": dict(distinct)})

    def ask(self, **queries: str | Asked) -> None:
        for name, asked in queries.items():
            wanted = asked if isinstance(asked, Asked) else Asked(asked)
            self.said_to("POST", "queries", {"name": name, "sql": wanted.statement})

    def ask_at_start(self, **queries: Asked) -> None:
        """Let the file that the server is started with ask."""
        for name, asked in queries.items():
            self.script += [f"CREATE QUERY {name} AS {asked.statement}", f"START QUERY {name}"]

    def settle(self) -> None:
        assert self.http
        self.service.graph.process_all_available()

    def rows(self, name: str, times: Sequence[str] = ("valid_from", "valid_to")) -> list[Row]:
        told = self.said_to("GET", f"queries/{name}/results")
        return _rows(told, times)

    def error(self, name: str) -> str | None:
        found: str | None = self.said_to("GET", f"queries/{name}")["error"]
        return found

    def stop(self, name: str) -> None:
        self.said_to("DELETE", f"queries/{name}")

    def migrate(self, name: str, sql: str) -> None:
        self.said_to("PATCH", f"queries/{name}", {"sql": sql})

    def adapt(self, name: str, sizes: Mapping[str, int]) -> None:
        self.said_to("POST", "graph/sizes", {"sizes": dict(sizes)})

    def sizes(self, name: str) -> dict[str, list[list[int]]]:
        found: dict[str, list[list[int]]] = self.said_to("GET", f"queries/{name}")["sizes"]
        return found

    def late(self) -> int:
        names = [each["name"] for each in self.said_to("GET", "queries")]
        told = [self.said_to("GET", f"queries/{name}/progress")["late_rows"] for name in names]
        return max(told)

    def close(self) -> None:
        if self._client is not None:
            self._client.__exit__(None, None, None)
            self._client = None


def _rows(told: Mapping[str, Any], times: Sequence[str]) -> list[Row]:
    columns = [told[name] for name in times]
    found = [(*row, *ends) for row, *ends in zip(told["rows"], *columns, strict=True)]
    return sorted(found, key=_key)


WAYS: tuple[type[Way], ...] = (Collect, Start, Several, Graph, Server)
FABRICS = ("inprocess", "spark")
