"""A continuous query: its plan, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra.plan import render
from tidemill.algebra.schema import Schema
from tidemill.analyze import Planned
from tidemill.errors import PlanWarning, TidemillError
from tidemill.fragments import stage_plan
from tidemill.physical.changes import AT, CHANGE, consolidate, snapshot, to_changes
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.operator import Exec, empty_batch
from tidemill.runtime.interface import Execution, Running, StartRequest
from tidemill.runtime.progress import Progress
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain


class Query:
    """A planned query over the streams of an engine. `engine.sql` makes them."""

    def __init__(
        self,
        sql: str,
        planned: Planned,
        physical: Exec,
        start: Callable[[], Execution],
        started: Callable[[Query, Running], None],
        sink: tuple[str, Mapping[str, Any]] = ("console", {}),
    ) -> None:
        self.sql = sql
        self._planned = planned
        self._physical = physical
        self._start = start
        self._started = started
        self._sink = sink
        self._run: Execution | None = None
        self._answer: pl.DataFrame | None = None

    @property
    def schema(self) -> Schema:
        """The columns of the result, without its validity."""
        return self._planned.plan.schema

    @property
    def depends_on(self) -> frozenset[str]:
        """The streams and relations that the query reads."""
        return self._planned.depends_on

    @property
    def warnings(self) -> tuple[PlanWarning, ...]:
        """What the planner wants you to know."""
        return self._planned.warnings

    def explain(self, level: str = "logical") -> str:
        """The plan as text: `"logical"`, `"physical"`, or in `"fragments"` as Spark runs it."""
        plans: dict[str, Callable[[], str]] = {
            "logical": lambda: render(self._planned.plan),
            "physical": lambda: render(self._physical),
            "fragments": lambda: str(stage_plan(self._physical)),
        }
        if level not in plans:
            raise TidemillError(f"no plan `{level}`", help=f"levels: {', '.join(plans)}")
        return "\n".join([level, plans[level](), *map(str, self.warnings)])

    def collect(self, coalesce: bool = False) -> pa.Table:
        """Run over all input: the rows of the result with the time in which they hold.

        Results are cut wherever the input changed; `coalesce` merges equal neighbours.
        """
        answer = self._collected()
        if coalesce:
            merged = CoalesceExec(self._physical).operator()
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
        self._run = self._start()
        for batch in self._run:
            yield self._output(_ordered(batch, VALID_FROM, VALID_TO), VALID_FROM, VALID_TO)

    def start(
        self,
        sink: str | Callable[[pa.Table, int], None] | None = None,
        *,
        checkpoint: str | None = None,
        form: str = "intervals",
        available_now: bool = False,
        every: str | None = None,
        **options: Any,
    ) -> Running:
        """Run on Spark and send what becomes known with each tick to a sink.

        `sink` is a format of Spark with its `options` (`"parquet", path=...`), `"console"`, or a
        function of a table and the number of the tick; without one, it is that of INSERT INTO, or
        the console. `form` is `"intervals"` or `"changes"`.
        With a `checkpoint`, a query that was stopped goes on where it was. `available_now` reads
        what is there and ends; else a tick is made `every` so often ("10 seconds"), or at once.
        """
        if sink is None:
            sink, options = self._sink[0], {**self._sink[1], **options}
        self._run = self._start()
        request = StartRequest(sink, form, self._planned.domain, checkpoint, available_now, every)
        running = self._run.start(request, options)
        self._started(self, running)
        return running

    @property
    def progress(self) -> Progress:
        """How the last run went."""
        return Progress() if self._run is None else self._run.progress

    def _collected(self) -> pl.DataFrame:
        if self._answer is None:
            self._run = self._start()
            self._answer = pl.concat([empty_batch(self.schema), *self._run])
        return self._answer

    def _output(self, frame: pl.DataFrame, *times: str) -> pa.Table:
        """Columns in the types of the plan; time as the user knows it, an open end as NULL."""
        stamps = self._planned.domain is TimeDomain.MICROSECONDS
        time = pa.timestamp("us") if stamps else pa.int64()
        types = {f.name: f.type for f in self.schema} | dict.fromkeys(times, time)
        if VALID_TO in frame.columns:
            open_end = pl.col(VALID_TO) == OPEN_END
            frame = frame.with_columns(
                pl.when(open_end).then(None).otherwise(pl.col(VALID_TO)).alias(VALID_TO)
            )
        table = frame.to_arrow()
        return table.cast(pa.schema([(n, types.get(n, pa.string())) for n in table.column_names]))

    def _instant(self, at: int | datetime) -> int:
        if isinstance(at, int):
            return at
        if self._planned.domain is not TimeDomain.MICROSECONDS:
            raise TidemillError(f"{at} is no instant of this query", help="time here is an integer")
        aware = at if at.tzinfo else at.replace(tzinfo=UTC)
        return int(pa.scalar(aware, pa.timestamp("us", "UTC")).value)

    def __repr__(self) -> str:
        return f"Query({' '.join(self.sql.split())!r})"


def _ordered(batch: pl.DataFrame, *times: str) -> pl.DataFrame:
    """Rows by their time and then by their values, so that equal answers look equal."""
    flat = [name for name, dtype in batch.schema.items() if not dtype.is_nested()]
    keys = [*times, *(name for name in flat if name not in times)]
    return batch.sort(keys, nulls_last=False) if keys else batch
