"""A continuous query: its plan, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import render
from tidemill.algebra.schema import Schema
from tidemill.analyze import Planned, SourceInfo
from tidemill.engine.costs import Costs
from tidemill.engine.waiting import progress_line
from tidemill.errors import PlanWarning, TidemillError, masked
from tidemill.fragments import stage_plans
from tidemill.optimize import Optimized
from tidemill.physical.changes import AT, CHANGE, consolidate, snapshot, to_changes
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.operator import empty_batch
from tidemill.physical.properties import is_coalesced
from tidemill.runtime.interface import (
    Callback,
    Execution,
    Job,
    LateCallback,
    Running,
    SinkRequest,
)
from tidemill.runtime.progress import Progress
from tidemill.runtime.results import user_table
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain


class QueryHost(Protocol):
    """A running graph, to a query that joins it."""

    def start(self, query: Query, name: str | None = None, partial: bool = False) -> Running: ...


class Host(Protocol):
    """What a query needs of its engine."""

    def execution(self, query: Query) -> Execution: ...

    @property
    def is_running(self) -> bool: ...

    @property
    def graph(self) -> QueryHost: ...

    def sql(self, text: str) -> Query | None: ...

    def start(
        self,
        *queries: Query,
        checkpoint: str | None = None,
        available_now: bool = False,
        every: str | None = None,
        late: str | LateCallback | None = None,
    ) -> Running: ...


class Query:
    """A planned query over the streams of an engine. `engine.sql` makes them.

    One that `is_fixed` runs with the operators that it has: someone chose them by hand.
    """

    def __init__(
        self,
        sql: str,
        planned: Planned,
        optimized: Optimized,
        job: Job,
        sources: Mapping[str, SourceInfo],
        host: Host,
        costs: Costs,
        is_fixed: bool = False,
    ) -> None:
        self.sql = sql
        self.job = job
        self.sources = sources
        self.planned = planned
        self.optimized = optimized
        self._host = host
        self.costs = costs
        self.is_fixed = is_fixed
        self.definition: str | None = None  # what defines it, if that is not its SQL
        self._progress: Callable[[], Progress] = Progress
        self._answer: pl.DataFrame | None = None

    @property
    def schema(self) -> Schema:
        """The columns of the result, without its validity."""
        return self.planned.plan.schema

    @property
    def depends_on(self) -> frozenset[str]:
        """The streams and relations that the query reads."""
        return self.planned.depends_on

    @property
    def warnings(self) -> tuple[PlanWarning, ...]:
        """What the planner wants you to know."""
        return self.planned.warnings

    def explain(self, level: str = "logical") -> str:
        """The plan as text.

        `"logical"` is what the query says, `"optimized"` what the rules made of it, `"verbose"`
        the plan after every rule that changed it, `"physical"` the operators that run, and
        `"fragments"` how Spark runs them. `"cost"` is what it will need, beside what was measured
        if it has run.
        """
        plans: dict[str, Callable[[], str]] = {
            "logical": lambda: render(self.planned.plan),
            "optimized": lambda: render(self.optimized.plan),
            "verbose": lambda: str(self.optimized),
            "physical": lambda: render(self.job.plan),
            "fragments": lambda: str(stage_plans([self.job.plan])),
            "cost": lambda: self.costs.report(self.progress),
        }
        if level not in plans:
            raise TidemillError(f"no plan `{level}`", help=f"levels: {', '.join(plans)}")
        return "\n".join([level, plans[level](), *map(str, self.warnings)])

    def collect(self, coalesce: bool = False) -> pa.Table:
        """Run over all input: the rows of the result with the time in which they hold.

        Results are cut wherever the input changed; `coalesce` merges equal neighbours. A terminal
        shows the progress meanwhile.
        """
        answer = self._collected()
        if coalesce and not is_coalesced(self.job.plan):
            merged = CoalesceExec(self.job.plan).operator()
            answer = merged.step([answer], [OPEN_END])[0]
        return self._output(_ordered(answer, VALID_FROM, VALID_TO), VALID_FROM, VALID_TO)

    def changes(self) -> pa.Table:
        """The result as a log: rows that come (+) and go (-), and when."""
        for name in (AT, CHANGE):
            if name in self.schema:
                raise TidemillError(
                    f"the result has a column `{name}`, which the log of changes needs",
                    help=f"give it another name: SELECT {name} AS ...",
                )
        return self._output(consolidate(to_changes(self._collected())), AT)

    def snapshot(self, at: int | datetime) -> pa.Table:
        """The rows of the result that hold at an instant."""
        return self._output(_ordered(snapshot(self._collected(), self._instant(at))))

    def ticks(self) -> Iterator[pa.Table]:
        """Run anew, and return what became known with each tick."""
        for batch in self._execution():
            yield self._output(_ordered(batch, VALID_FROM, VALID_TO), VALID_FROM, VALID_TO)

    def into(self, sink: str | Callback, *, form: str | None = None, **options: Any) -> Query:
        """The query with a place for its results.

        `sink` is a format of Spark with its `options` (`"parquet", path=...`), `"console"`,
        `"memory"`, `"postgres"`, or a function of a table and the number of the tick. `form` is
        `"intervals"`, `"live"` (intervals that are still open are given as far as they are known,
        and go on with the next tick), `"changes"`, or `"snapshot"`: with every tick all rows of the
        newest instant that is complete, which take the place of those before.
        """
        other = copy(self)
        other.job = replace(self.job, sink=SinkRequest(sink, options, form or ""))
        return other

    def start(
        self,
        sink: str | Callback | None = None,
        *,
        form: str | None = None,
        checkpoint: str | None = None,
        available_now: bool = False,
        every: str | None = None,
        late: str | LateCallback | None = None,
        name: str | None = None,
        partial: bool = False,
        **options: Any,
    ) -> Running:
        """Run and send what becomes known with each tick to a sink.

        If the graph of the engine is running, the query joins it, under a `name`: its answers are
        exact from an instant on that depends on what it shares with others, and before that it
        gives none, unless it is `partial`. Else it runs alone, on Spark.

        The sink is that of `into`; without one, it is that of INSERT INTO, or the console.
        With a `checkpoint`, a query that was stopped goes on where it was. `available_now` reads
        what is there and ends; else a tick is made `every` so often ("10 seconds"), or at once.
        Late rows are kept in a folder `late`, or given to a function of the name of their source,
        the rows, and the number of the tick.
        """
        own = self.job.sink if sink is None else SinkRequest(sink)
        query = self.into(own.target, form=form or own.form, **{**own.options, **options})
        if self._host.is_running:
            _refuse_own_run(checkpoint, available_now, every, late)
            joined = self._host.graph.start(query, name, partial)
            self.follow(lambda: joined.progress)
            return joined
        running = self._host.start(
            query, checkpoint=checkpoint, available_now=available_now, every=every, late=late
        )
        self.follow(lambda: running.progress)
        return running

    def like(self, sql: str) -> Query:
        """Another query, whose results go to the same place."""
        found = self._host.sql(sql)
        if found is None:
            raise TidemillError("that is no query", help="write SELECT ...")
        sink = self.job.sink
        return found.into(sink.target, form=sink.form, **sink.options)

    def follow(self, progress: Callable[[], Progress]) -> None:
        """Take the progress of the query from a run of it."""
        self._progress = progress

    @property
    def progress(self) -> Progress:
        """How the last run went."""
        return self._progress()

    def _execution(self) -> Execution:
        execution = self._host.execution(self)
        self.follow(lambda: execution.progress)
        return execution

    def _collected(self) -> pl.DataFrame:
        changes = any(info.kind is SourceKind.CHANGING for info in self.sources.values())
        if self._answer is None or changes:
            with progress_line(lambda: self.progress):
                self._answer = pl.concat([empty_batch(self.schema), *self._execution()])
        return self._answer

    def _output(self, frame: pl.DataFrame, *times: str) -> pa.Table:
        return user_table(frame, self.schema, self.planned.domain, *times)

    def _instant(self, at: int | datetime) -> int:
        if isinstance(at, int):
            return at
        if self.planned.domain is not TimeDomain.MICROSECONDS:
            raise TidemillError(f"{at} is no instant of this query", help="time here is an integer")
        aware = at if at.tzinfo else at.replace(tzinfo=UTC)
        return int(pa.scalar(aware, pa.timestamp("us", "UTC")).value)

    def __repr__(self) -> str:
        return f"Query({masked(' '.join(self.sql.split()))!r})"


def _refuse_own_run(*choices: object) -> None:
    if any(choices):
        raise TidemillError(
            "checkpoint, available_now, every and late are those of the running graph",
            help="give them to engine.run, or stop the graph with engine.graph.stop()",
        )


def _ordered(batch: pl.DataFrame, *times: str) -> pl.DataFrame:
    """Rows by their time and then by their values, so that equal answers look equal."""
    flat = [name for name, dtype in batch.schema.items() if not dtype.is_nested()]
    keys = [*times, *(name for name in flat if name not in times)]
    return batch.sort(keys, nulls_last=False) if keys else batch
