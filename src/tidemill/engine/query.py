"""A continuous query: its plan, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import lines_of, render
from tidemill.algebra.schema import Schema
from tidemill.analyze import Planned
from tidemill.catalog import SourceInfo
from tidemill.connectors.sinks import LateCallback, SinkRequest, Target, in_order, user_table
from tidemill.engine.answers import Collectable
from tidemill.engine.costs import Costs
from tidemill.engine.waiting import progress_line
from tidemill.errors import PlanWarning, TidemillError, masked
from tidemill.explain import Explanation, Level, PlanLine
from tidemill.graph.reoptimize import Choice
from tidemill.optimize import Optimized
from tidemill.optimize.statistics import Statistics
from tidemill.physical.mechanisms.changes import AT, CHANGE, consolidate, snapshot, to_changes
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.pick import Constants
from tidemill.runtime.interface import Job
from tidemill.runtime.progress import Progress
from tidemill.stages import Staged, stage_plans
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemill.engine.started import StartedQuery


_FEW_ROWS = 2_000
"""A query that reads no more than that is run to be shown."""


@dataclass(frozen=True)
class QueryPlan:
    """What a query was planned to: the optimized plan, the operators, and what they cost by what
    is known when one asks; and what is known of all sources."""

    optimized: Optimized
    choice: Choice
    costs: Callable[[], Costs]
    known: Callable[[], Statistics]

    @property
    def physical(self) -> Exec:
        return self.choice.physical


@dataclass(frozen=True)
class KnownShape:
    """What is known of a query by its text alone, since others like it run: the constants that it
    has in the relation of its shape, and what it means."""

    relation: str
    constants: Constants
    meaning: str


Lay = Callable[[bool, Statistics], QueryPlan]
"""Plans a query: to run alone, or to share what it can with others; with what is new."""


@dataclass(frozen=True)
class RunOptions:
    """How a query runs that is started; see `Query.start`."""

    checkpoint: str | None = None
    available_now: bool = False
    every: str | None = None
    late: str | LateCallback | None = None
    partial: bool = False

    @property
    def are_of_a_graph(self) -> bool:
        """Whether something is wanted that a graph does for all its queries."""
        return bool(self.checkpoint or self.available_now or self.every or self.late)


class Host(Protocol):
    """What a query needs of its engine."""

    @property
    def is_running(self) -> bool:
        """Whether queries that are started join a running graph."""

    @property
    def spark(self) -> SparkSession:
        """The Spark session of the engine; one is started if need be."""

    def planned(self, text: str) -> Query:
        """The query of a text."""

    def collected(self, query: Query) -> Iterator[pl.DataFrame]:
        """The rows of a query tick by tick; the input must come to an end."""

    def rows_at_hand(self, query: Query) -> int | None:
        """How many rows there are to read, if that is known and nothing has to be started."""

    def started(self, query: Query, options: RunOptions, name: str | None) -> StartedQuery:
        """A query that runs from now on; `name` is for one that joins a running graph."""


class Query(Collectable):
    """A planned query over the streams of an engine. `engine.sql` makes them.

    One that `is_fixed` runs with the operators that it has: someone chose them by hand. If its
    `shape` is known, it is one of many that differ in constants only: it is not planned before
    somebody looks at its plan.
    """

    shape: KnownShape | None = None

    def __init__(
        self,
        sql: str,
        planned: Planned,
        sink: SinkRequest,
        sources: Mapping[str, SourceInfo],
        host: Host,
        lay: Lay,
        is_fixed: bool = False,
    ) -> None:
        self.sql = sql
        self.sink = sink
        self.sources = sources
        self._planned = planned
        self.is_fixed = is_fixed
        self.definition: str | None = None  # what defines it, if that is not its SQL
        self._host = host
        self._lay = lay
        self._plans: dict[bool, QueryPlan] = {}
        self._is_fresh = False  # whether the plans were made just now, elsewhere
        self._run: StartedQuery | None = None
        self._progress: Callable[[], Progress] = Progress
        self._answer: pl.DataFrame | None = None
        self.plan  # noqa: B018 (what cannot be planned is refused at once)

    @property
    def planned(self) -> Planned:
        """What the query means, checked."""
        return self._planned if self.shape is None else self._alone.planned

    @property
    def _alone(self) -> Query:
        """The query as it would be if no other were like it."""
        return self._host.planned(self.sql)

    @property
    def meaning(self) -> str:
        """What the query means, as text."""
        return render(self._planned.plan) if self.shape is None else self.shape.meaning

    @property
    def plan(self) -> QueryPlan:
        """The plan for where the query would run now: alone, or in the running graph."""
        if self.shape is not None:
            return self._alone.plan
        shares = self._host.is_running
        if shares not in self._plans:
            self._plans[shares] = self._lay(shares, Statistics())
        return self._plans[shares]

    def replan(self, news: Statistics, shares: bool = True) -> Choice:
        """Plan the query with what is known now; from now on, this is its plan."""
        if self.shape is not None:
            return self._alone.replan(news, shares)
        fresh, self._is_fresh = self._is_fresh and news == Statistics(), False
        if fresh and shares in self._plans:
            return self._plans[shares].choice
        self._plans[shares] = self._lay(shares, news)
        return self._plans[shares].choice

    def forget_plans(self) -> None:
        """Keep no plans: many queries run as one, and each is planned again when it is asked."""
        self._plans = {}

    def unplanned(self) -> Query:
        """The query without plans, a run, or a place for its results."""
        other = copy(self)
        other._plans, other._run, other._progress = {}, None, Progress
        other._answer, other._is_fresh = None, False
        other.sink = SinkRequest(order=self._planned.order)
        return other

    def with_shape(self, sql: str, shape: KnownShape) -> Query:
        """Another query that differs from this one in constants only."""
        other = copy(self)
        other.sql, other.shape = sql, shape
        return other

    def planned_as(self, sql: str, lay: Lay) -> Query:
        """The query, with its plans, as another text says it; from now on planned by `lay`."""
        other = copy(self)
        other._planned, other.shape = self.planned, None
        other.sql, other._lay, other._plans = sql, lay, dict(self._plans)
        other._is_fresh = True
        return other

    def planned_now(self, lay: Lay) -> Query:
        """The query with the plan that `lay` makes of it."""
        other = self.planned_as(self.sql, lay)
        other._plans = {}
        other.plan  # noqa: B018 (it is made now)
        return other

    def take_plans(self, other: Query) -> None:
        """Go on with the plans of another one, which were made just now."""
        self._plans, self._is_fresh = dict(other._plans), True

    @property
    def job(self) -> Job:
        """The plan with the axis of its time and its sink."""
        return Job(self.plan.physical, self.domain, self.sink)

    @property
    def optimized(self) -> Optimized:
        return self.plan.optimized

    @property
    def costs(self) -> Costs:
        """What the plan is estimated to need, by what is known of the streams now."""
        return self.plan.costs()

    @property
    def operators(self) -> Exec:
        """The operators that run, or would."""
        running = self._run
        return running.plan if running is not None and running.is_active else self.plan.physical

    @property
    def schema(self) -> Schema:
        """The columns of the result, without its validity."""
        return self._planned.plan.schema

    @property
    def domain(self) -> TimeDomain | None:
        """What the time of its results counts."""
        return self._planned.domain

    @property
    def depends_on(self) -> frozenset[str]:
        """The streams and relations that the query reads."""
        return self._planned.depends_on

    def domain_of(self, source: str) -> TimeDomain | None:
        """What the time of a source counts that the query reads."""
        return self.sources[source].domain if source in self.sources else self.domain

    @property
    def warnings(self) -> tuple[PlanWarning, ...]:
        """What the planner wants you to know."""
        return self._planned.warnings

    def explain(self, level: str = "logical") -> str:
        """The plan as text.

        `"logical"` is what the query says, `"optimized"` what the rules made of it, `"verbose"`
        the plan after every rule that changed it, `"physical"` the operators that run, and
        `"stages"` how they are distributed to partitions. `"cost"` is what it will need, beside
        what was measured if it has run. Of a query that runs, the operators are those that run.
        """
        return self.explanation(level).text

    def explanation(self, level: str = "logical") -> Explanation:
        """What `explain` shows, line by line."""
        if level not in set(Level):
            raise TidemillError(f"no plan `{level}`", help=f"levels: {', '.join(Level)}")
        return Explanation(level, tuple(self._lines(Level(level))), self.warnings)

    def _lines(self, level: Level) -> Iterable[PlanLine]:
        match level:
            case Level.LOGICAL:
                return lines_of(self.planned.plan)
            case Level.OPTIMIZED:
                return lines_of(self.optimized.plan)
            case Level.VERBOSE:
                return self.optimized.lines()
            case Level.PHYSICAL:
                return lines_of(self.operators)
            case Level.STAGES:
                return self._staged().lines()
            case Level.COST:
                return self.costs.lines(self.progress)

    def _staged(self) -> Staged:
        return stage_plans([self.operators], statistics=self.plan.known())

    def collect(self, coalesce: bool = False) -> pa.Table:
        """Run over all input: the rows of the result with the time in which they hold.

        Results are cut wherever the input changed; `coalesce` merges equal neighbours. Rows are
        listed by the instant from which they hold, those of one instant in the order of ORDER BY.
        A terminal shows the progress meanwhile.
        """
        answer = self._collected()
        if coalesce and not self.plan.physical.validity.coalesced:
            merged = CoalesceExec(self.plan.physical).operator()
            answer = merged.step([answer], [OPEN_END])[0]
        return self._in_time(answer)

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
        """The rows of the result that hold at an instant, in the order of ORDER BY."""
        rows = snapshot(self._collected(), self._instant(at))
        return self._output(in_order(rows, order=self._planned.order))

    def ticks(self) -> Iterator[pa.Table]:
        """Run anew, and return what became known with each tick."""
        for batch in self.batches():
            yield self._in_time(batch)

    def batches(self) -> Iterator[pl.DataFrame]:
        """Run anew; what operators give with each tick, to be `listed` together."""
        return self._host.collected(self)

    def listed(self, batches: Iterable[pl.DataFrame]) -> pa.Table:
        """Batches as the table that `collect` gives."""
        return self._in_time(pl.concat([empty_batch(self.schema), *batches]))

    def into(self, sink: Target, *, form: str | None = None, **options: Any) -> Query:
        """The query with a place for its results.

        `sink` is a format of Spark with its `options` (`"parquet", path=...`), `"console"`,
        `"memory"`, `"postgres"`, `"kafka"`, or a function of a table and the number of the tick.
        `form` is `"intervals"`, `"live"` (intervals that are still open are given as far as they
        are known, and go on with the next tick), `"changes"`, or `"snapshot"`: with every tick all
        rows of the newest instant that is complete, which take the place of those before.
        """
        other = copy(self)
        other.sink = SinkRequest(sink, options, form or "", self._planned.order)
        other._run = None
        return other

    def start(
        self,
        sink: Target | None = None,
        *,
        form: str | None = None,
        checkpoint: str | None = None,
        available_now: bool = False,
        every: str | None = None,
        late: str | LateCallback | None = None,
        name: str | None = None,
        partial: bool = False,
        **options: Any,
    ) -> StartedQuery:
        """Run and send what becomes known with each tick to a sink.

        If the graph of the engine is running, the query joins it, under a `name`: its answers are
        exact from an instant on that depends on what it shares with others, and before that it
        gives none, unless it is `partial`. Else it runs in a graph of its own.

        The sink is that of `into`; without one, it is that of INSERT INTO, or the console.
        With a `checkpoint`, a query that was stopped goes on where it was. `available_now` reads
        what is there and ends; else a tick is made `every` so often ("10 seconds"), or at once.
        Late rows are kept in a folder `late`, or given to a function of the name of their source,
        the rows, and the number of the tick.
        """
        own = self.sink if sink is None else SinkRequest(sink)
        query = self.into(own.target, form=form or own.form, **{**own.options, **options})
        wanted = RunOptions(checkpoint, available_now, every, late, partial)
        run = self._host.started(query, wanted, name)
        self.runs_as(run)
        return run

    def runs_as(self, run: StartedQuery) -> None:
        """Take note of a run: from now on, `explain` shows its operators and its progress."""
        self._run = run
        self.follow(lambda: run.progress)

    def like(self, sql: str) -> Query:
        """Another query, whose results go to the same place."""
        sink = self.sink
        return self._host.planned(sql).into(sink.target, form=sink.form, **sink.options)

    def follow(self, progress: Callable[[], Progress]) -> None:
        """Take the progress of the query from a run of it."""
        self._progress = progress

    @property
    def progress(self) -> Progress:
        """How the last run went."""
        return self._progress()

    def _session(self) -> SparkSession:
        return self._host.spark

    def _collected(self) -> pl.DataFrame:
        if self._answer is None or not self._is_known:
            with progress_line(lambda: self.progress):
                batches = self._host.collected(self)
                self._answer = pl.concat([empty_batch(self.schema), *batches])
        return self._answer

    @property
    def _is_known(self) -> bool:
        """Whether the answer is there, and still true."""
        changes = any(info.kind is SourceKind.CHANGING for info in self.sources.values())
        return self._answer is not None and not changes

    def _in_time(self, rows: pl.DataFrame) -> pa.Table:
        listed = in_order(rows, VALID_FROM, VALID_TO, order=self._planned.order)
        return self._output(listed, VALID_FROM, VALID_TO)

    def _output(self, frame: pl.DataFrame, *times: str) -> pa.Table:
        return user_table(frame, self.schema, self.domain, *times)

    def _instant(self, at: int | datetime) -> int:
        if isinstance(at, int):
            return at
        if self.domain is not TimeDomain.MICROSECONDS:
            raise TidemillError(
                f"{at} is not an instant of this query", help="time here is an integer"
            )
        aware = at if at.tzinfo else at.replace(tzinfo=UTC)
        return int(pa.scalar(aware, pa.timestamp("us", "UTC")).value)

    def glance(self) -> pa.Table | None:
        """What `collect` gives, if it is known or soon computed from a few rows; else None."""
        if not self._is_known:
            rows = None if self._run is not None else self._host.rows_at_hand(self)
            if rows is None or rows > _FEW_ROWS:
                return None
        return self.collect()

    def _repr_html_(self) -> str:
        from tidemill.notebook.queries import query_html

        return query_html(self)

    def __repr__(self) -> str:
        return f"Query({masked(' '.join(self.sql.split()))!r})"
