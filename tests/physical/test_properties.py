"""Which operators keep the end order, and which results are chronon streams (Table 12.1)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pyarrow as pa
import pytest
from sqlglot import exp

from tests.golden.loader import Case, cases
from tidemill.algebra import AggregateCall, Scalar, Scan, Schema, SourceKind, column
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.count_window import CountWindowExec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.sets import DifferenceExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.split import SplitExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.union import UnionExec

_COLUMNS = Schema.of(v=pa.bool_())
_V = column("s.v", pa.bool_())
_COUNT = (AggregateCall("n", "COUNT", None, pa.int64()),)


def source(kind: SourceKind = SourceKind.STREAM, alias: str = "s") -> Exec:
    return SourceExec(Scan("s", alias, _COLUMNS, kind))


CHRONONS = source()
ORDERED = TimeWindowExec(CHRONONS, 5)
UNORDERED = source(SourceKind.INTERVALS)

BUILDERS: dict[str, Callable[..., Exec]] = {
    "filter": lambda s: FilterExec(s, _V),
    "map": lambda s: ProjectExec(s, (("s.v", _V),)),
    "split": lambda s, length=3: SplitExec(s, length),
    "union": UnionExec,
    "theta_join": lambda s, r: JoinExec((s, ProjectExec(r, (("r", _V),))), ((), ())),
    "duplicate_elimination": lambda s: DistinctExec(s, ("s.v",)),
    "difference": lambda s, r: DifferenceExec(s, r, ("s.v",)),
    "grouping_aggregation": lambda s: AggregateExec(s, (), ("s.v",), _COUNT, (0,)),
    "scalar_aggregation": lambda s: AggregateExec(s, (), (), _COUNT, (0,)),
    "partitioned_window": lambda s: CountWindowExec(s, 3, 1, ("s.v",)),
    "count_window": lambda s: CountWindowExec(s, 3, 1, ()),
    "time_window": lambda s, size=5: TimeWindowExec(s, size),
    "coalesce": lambda s, length=3: CoalesceExec(s, length),
}

BINARY = {"union", "theta_join", "difference"}


@pytest.mark.parametrize("case", cases("plan_properties"), ids=lambda case: case.id)
def test_end_order(case: Case) -> None:
    build = BUILDERS[case.operator]
    arity = 2 if case.operator in BINARY else 1
    kept = build(*[ORDERED] * arity).validity.end_order
    made = build(*[UNORDERED] * arity).validity.end_order
    effects = {(True, False): "retains", (False, False): "destroys", (True, True): "enforces"}
    assert effects[kept, made] == case.facts["end_order"]


def rule(text: str) -> Callable[[list[bool]], bool]:
    """The condition of the table as a function of which inputs are chronon streams."""
    return {
        "the input is a chronon stream": all,
        "both inputs are chronon streams": all,
        "at least one input is a chronon stream": any,
        "the first input is a chronon stream": lambda inputs: inputs[0],
        "output length is 1, or the input is a chronon stream": all,
        "the window size is 1": lambda inputs: False,
        "never guaranteed": lambda inputs: False,
        "the input is a chronon stream and the maximum length is 1": lambda inputs: False,
    }[text]


@pytest.mark.parametrize("case", cases("plan_properties"), ids=lambda case: case.id)
def test_chronon_streams(case: Case) -> None:
    build, wanted = BUILDERS[case.operator], rule(case.facts["chronon_output_if"])
    arity = 2 if case.operator in BINARY else 1
    for inputs in product([CHRONONS, ORDERED], repeat=arity):
        found = build(*inputs).validity.chronon
        assert found == wanted([plan is CHRONONS for plan in inputs]), inputs


def test_lengths_of_one() -> None:
    assert BUILDERS["split"](ORDERED, length=1).validity.chronon
    assert BUILDERS["time_window"](CHRONONS, size=1).validity.chronon
    assert BUILDERS["coalesce"](CHRONONS, length=1).validity.chronon
    assert not BUILDERS["coalesce"](ORDERED, length=1).validity.chronon


FOREVER = TimeWindowExec(CHRONONS, None)
CONSTANT = source(SourceKind.CONSTANT)


@pytest.mark.parametrize("case", cases("plan_properties"), ids=lambda case: case.id)
def test_what_is_coalesced(case: Case) -> None:
    """Only filters and renamings keep it (12.2); nothing but coalesce, and no end, brings it."""
    build = BUILDERS[case.operator]
    arity = 2 if case.operator in BINARY else 1
    assert build(*[FOREVER] * arity).validity.coalesced == (case.operator in {"filter", "map"})
    assert not build(*[ORDERED] * arity).validity.coalesced


def test_coalesced_inputs() -> None:
    assert CONSTANT.validity.coalesced
    assert CountWindowExec(CHRONONS, None, 1, ()).validity.coalesced
    assert CoalesceExec(ORDERED).validity.coalesced
    assert not CoalesceExec(ORDERED, 3).validity.coalesced
    # A map may make rows equal that were different.
    negated = Scalar(exp.Not(this=_V.node), pa.bool_())
    assert not ProjectExec(CONSTANT, (("x", negated),)).validity.coalesced
