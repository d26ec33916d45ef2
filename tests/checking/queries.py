"""Hold SQL against the reference, and against SQL itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from tests.checking.oracle import NotComparable, Oracle, nearly_equal
from tests.checking.plans import Inputs, reference_of, relation_table, run_plan
from tests.random.data import TIME
from tidemill.algebra import Plan
from tidemill.engine import Engine
from tidemill.engine.query import Query
from tidemill.errors import PlanWarning
from tidemill.reference import LogicalStream
from tidemill.testing.reference import check_result

Texts = tuple[int, str]


@dataclass(frozen=True)
class Checked:
    """How a query was checked: at so many instants by DuckDB too."""

    instants: int
    asked: int


def engine_with(inputs: Inputs) -> Engine:
    """An engine with the sources of random queries, and their functions."""
    engine = Engine(runtime="inprocess")
    for name, stream in inputs.streams.items():
        engine.stream(name, stream.tables, time=TIME, slack=stream.slack, ahead=stream.ahead)
    for name, rows in inputs.relations.items():
        engine.relation(name, relation_table(rows))
    engine.function("bump", lambda x: 0 if x is None else x + 1, "BIGINT")
    engine.aggregate("longest", init=_sized, merge=max, eval=_text, returns="STRING")
    return engine


def _sized(text: str) -> Texts:
    return len(text), text


def _text(sized: Texts) -> str:
    return sized[1]


def check_query(script: str, inputs: Inputs, most_asked: int = 6, contract: bool = True) -> Checked:
    """Fail unless the answers of the engine are those of the reference, and of DuckDB.

    DuckDB is asked at up to `most_asked` of the instants at which something changes. With
    `contract`, the plan runs a second time with every operator checked.
    """
    engine = engine_with(inputs)
    query = run_script(script, engine)
    plan, functions = plan_of(query), engine.catalog.functions
    expected = reference_of(plan, inputs, functions)
    asked = _ask(script, inputs, expected, _changes(expected, most_asked))
    if contract:  # first, since it tells more
        check_result(run_plan(plan, inputs, functions), expected)
    check_result(query.collect(), expected)
    _check_progress(query, inputs)
    return Checked(expected.horizon + 1, asked)


def run_script(script: str, engine: Engine) -> Query:
    """The query of a script; random scripts give the planner every reason to warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        query = engine.sql(script)
    assert isinstance(query, Query)
    return query


def plan_of(query: Query) -> Plan:
    """The logical plan of a query: planning it once more would take longer than running it."""
    return query.planned.plan


def _check_progress(query: Query, inputs: Inputs) -> None:
    for name, source in query.progress.sources.items():
        if name in inputs.streams:
            late = inputs.streams[name].late_rows
            assert source.late_rows == late, f"{source.late_rows} late rows of {name}, not {late}"


def _changes(expected: LogicalStream, most: int) -> list[int]:
    """Instants at which the snapshot is another than before, spread over time."""
    times = range(expected.horizon + 1)
    changes = [t for t in times if t == 0 or expected.at(t) != expected.at(t - 1)]
    step = max(1, -(-len(changes) // max(most, 1)))
    return changes[::step][:most]


def _ask(script: str, inputs: Inputs, expected: LogicalStream, instants: Sequence[int]) -> int:
    oracle = Oracle(script, inputs)
    asked = 0
    for t in instants:
        try:
            found = oracle.at(t)
        except NotComparable:
            continue
        asked += 1
        if not nearly_equal(found, expected.at(t)):
            missing, extra = found - expected.at(t), expected.at(t) - found
            raise AssertionError(
                f"at {t} the plan means something else than SQL:\n"
                f"  DuckDB has also {dict(missing)}\n  the reference has also {dict(extra)}"
            )
    return asked
