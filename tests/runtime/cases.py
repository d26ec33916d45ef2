"""Random cases as plans, and runs of them below the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from tests.checking.plans import Inputs, reference_of
from tests.checking.queries import engine_with, plan_of, run_script
from tests.checking.sources import Rows, opener
from tests.random.cases import PlanCase, QueryCase, plan_case, query_case
from tests.random.data import TIME
from tests.random.plans import LONGEST
from tidemill.algebra import Plan, Scan
from tidemill.connectors.sinks import SinkRequest
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.codec import KnownFunctions
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.interface import Job, Root
from tidemill.runtime.run import Run
from tidemill.runtime.sources import Source, StreamSource
from tidemill.stages import Staged, stage_plans
from tidemill.store import Store
from tidemill.testing.reference import check_result
from tidemill.timeline import TimeDomain


def make_case(kind: str, seed: int) -> tuple[Any, Plan, Mapping[str, Any]]:
    """The random case of a seed: the case, its logical plan, and its functions."""
    case = {"plans": plan_case, "queries": query_case}[kind](Random(seed))
    if isinstance(case, PlanCase):
        return case, case.plan, {}
    assert isinstance(case, QueryCase)
    engine = engine_with(case.inputs)
    return case, plan_of(run_script(case.script, engine)), engine.catalog.functions


def staged_case(kind: str, seed: int) -> Staged:
    _, plan, functions = make_case(kind, seed)
    return stage_plans([lower(plan, dict(functions))])


def newest_row(plan: Plan, inputs: Inputs) -> int | None:
    """The time of the newest row of the streams that the plan reads."""
    scanned = {node.source for node in plan.walk() if isinstance(node, Scan)}
    streams = [stream for name, stream in inputs.streams.items() if name in scanned]
    rows = [row for stream in streams for row in stream.in_time()]
    return max((row[TIME] for row in rows), default=None)


def all_of(sources: Mapping[str, Source]) -> dict[str, Root]:
    """Queries that read all streams: those that others do not need tell the time, too."""
    leaves = {
        name: SourceExec(Scan(name, name, source.info.schema))
        for name, source in sources.items()
        if isinstance(source, StreamSource)
    }
    return {
        f"all of {name}": Root(Job(leaf, TimeDomain.TICKS, SinkRequest(Rows())))
        for name, leaf in leaves.items()
    }


class Bounded:
    """A run of one plan over input that ends, and what it gives tick by tick."""

    def __init__(
        self,
        plan: Exec,
        sources: Mapping[str, Source],
        fabric: Fabric,
        store: Store | None = None,
        form: str = "intervals",
    ) -> None:
        self.rows = Rows(form=form)
        known = KnownFunctions(aggregates={LONGEST.name.lower(): LONGEST})
        self.run = Run(fabric, opener(sources), store, bounded=True, known=known)
        self.job = Job(plan, TimeDomain.TICKS, SinkRequest(self.rows, form=form))
        self.run.revise({"q": Root(self.job), **all_of(sources)}, {})

    def tick(self) -> None:
        self.run.tick()
        assert not self.run.failures, self.run.failures

    def ticks(self) -> Iterator[int]:
        """The numbers of its ticks, as they are made."""
        while not self.run.is_ended:
            self.tick()
            yield max(self.rows.ticks)

    def whole(self) -> pl.DataFrame:
        """All that it gives up to its end."""
        for _ in self.ticks():
            pass
        return pl.concat(list(self.rows.ticks.values()))


def check_plan_on(
    fabric: Fabric,
    plan: Plan,
    inputs: Inputs,
    folder: Path | None = None,
    physical: Exec | None = None,
    functions: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """Fail unless a plan gives the snapshots of the reference, and counts late rows; its rows.

    It runs with a store in a folder, or without.
    """
    store = None if folder is None else Store(str(folder / "store"))
    known = dict(functions or {})
    bounded = Bounded(physical or lower(plan, known), inputs.sources(store), fabric, store)
    try:
        found = pl.concat([empty_batch(plan.schema), bounded.whole()])
        check_result(found.to_arrow(), reference_of(plan, inputs, known))
        for name, source in bounded.run.sources.items():
            if name in inputs.streams:
                assert source.late_rows == inputs.streams[name].late_rows, name
        return found
    finally:
        bounded.run.stop()
