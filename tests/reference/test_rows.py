"""Filter, map, joins and set operations: NULL, NaN, -0.0, copies."""

from __future__ import annotations

import math
from collections import Counter

import pyarrow as pa
import pytest
from sqlglot import parse_one

from tests.reference.examples import leaf, run, scalar, stream
from tidemill import algebra
from tidemill.algebra import (
    AntiJoin,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    MaxUnion,
    Plan,
    Project,
    Scalar,
    Scan,
    SemiJoin,
    SourceKind,
    StrictDifference,
    Union,
)
from tidemill.algebra.sets import (
    SetOperation,
)
from tidemill.expressions import UserFunction
from tidemill.reference import canonical, evaluate
from tidemill.reference.evaluate import OPERATORS

NAN = canonical(math.nan)
S = leaf("s", x=pa.float64())
U = leaf("u", y=pa.float64())
LEFT = stream(S, (1.0, 0), (1.0, 0), (None, 0), (math.nan, 0))
RIGHT = stream(U, (1.0, 0), (1.0, 0), (None, 0), (math.nan, 0))


def test_every_operator_of_the_algebra_is_defined() -> None:
    concrete = {
        value
        for name in algebra.__all__
        if isinstance(value := getattr(algebra, name), type) and issubclass(value, Plan)
    }
    # A star join is defined by the plan without its bound.
    assert OPERATORS.keys() == concrete - {Plan, Scan, algebra.StarJoin, algebra.Ranking}


def test_an_operator_without_definition_is_refused() -> None:
    class Other(Distinct):
        pass

    with pytest.raises(TypeError, match="no definition of Other"):
        run(Other(S), [])


def test_filter_keeps_what_is_true_not_null() -> None:
    found = run(Filter(S, scalar("`s.x` > 0", S)), LEFT)
    assert found.at(0) == Counter({(1.0,): 2, (NAN,): 1})


def test_filter_without_columns() -> None:
    assert run(Filter(S, scalar("TRUE")), LEFT).at(0).total() == 4
    assert not run(Filter(S, scalar("1 > 2")), LEFT)


def test_map_adds_copies_of_rows_that_become_equal() -> None:
    scan = leaf(x=pa.float64())
    plan = Project(scan, (("z", scalar("`s.x` * 0", scan)), ("c", scalar("1"))))
    found = run(plan, stream(scan, (-1.0, 0), (2.0, 0), (None, 0)))
    assert found.at(0) == Counter({(0.0, 1): 2, (None, 1): 1})


def test_map_calls_user_functions() -> None:
    twice = UserFunction("twice", lambda x: None if x is None else 2 * x, pa.float64())
    plan = Project(S, (("z", Scalar(parse_one("twice(`s.x`)", read="spark"), pa.float64())),))
    found = evaluate(plan, {"s": stream(S, (2.0, 1), (None, 1))}, 3, {"twice": twice})
    assert found.at(1) == Counter({(4.0,): 1, (None,): 1})


def test_join_multiplies_copies_and_null_has_no_partner() -> None:
    found = run(Join(S, U, scalar("`s.x` = `u.y`", S, U)), LEFT, RIGHT)
    assert found.at(0) == Counter({(1.0, 1.0): 4, (NAN, NAN): 1})


def test_product() -> None:
    assert run(Join(S, U, None), LEFT, RIGHT).at(0).total() == 16


def test_join_tries_only_pairs_that_meet() -> None:
    condition = scalar("1 / (`s.x` - `u.y`) > 0", S, U)
    found = run(Join(S, U, condition), stream(S, (3.0, 0), (1.0, 1)), stream(U, (1.0, 0)))
    assert found == {0: Counter({(3.0, 1.0): 1})}


def test_semi_and_anti_join_divide_the_left_copies() -> None:
    condition = scalar("`s.x` >= `u.y`", S, U)
    assert run(SemiJoin(S, U, condition), LEFT, RIGHT).at(0) == Counter({(1.0,): 2, (NAN,): 1})
    assert run(AntiJoin(S, U, condition), LEFT, RIGHT).at(0) == Counter({(None,): 1})


def test_semi_join_without_condition_asks_for_any_row() -> None:
    later = stream(U, (5.0, 1))
    assert not run(SemiJoin(S, U, None), LEFT, later)
    assert run(AntiJoin(S, U, None), LEFT, later).at(0).total() == 4


def test_set_operations_and_distinct_take_null_and_nan_as_equal() -> None:
    renamed = Project.renaming(U, ("s.x",))
    assert run(Difference(S, renamed), LEFT, RIGHT) == {}
    assert run(Distinct(S), LEFT).at(0) == Counter([(1.0,), (None,), (NAN,)])


@pytest.mark.parametrize(
    ("operator", "copies"),
    [(Union, 5), (Difference, 1), (StrictDifference, 0), (Intersection, 2), (MaxUnion, 3)],
)
def test_set_operations_count_copies(operator: type[SetOperation], copies: int) -> None:
    plan = operator(S, Project.renaming(U, ("s.x",)))
    left, right = stream(S, *[(1.0, 0)] * 3), stream(U, *[(1.0, 0)] * 2)
    assert run(plan, left, right).at(0).total() == copies


def test_zeros_are_one_row() -> None:
    assert run(Distinct(S), stream(S, (0.0, 0), (-0.0, 0))).at(0) == Counter({(0.0,): 1})


def test_sources_hold_as_their_kind_says() -> None:
    constant = leaf("s", SourceKind.CONSTANT, x=pa.int32())
    assert list(run(constant, [{"x": 1}], horizon=3)) == [0, 1, 2, 3]
    temporal = leaf("s", SourceKind.INTERVALS, x=pa.int32())
    data = [({"x": 1}, 1, 3), ({"x": 2}, 3, None), ({"x": 3}, 2, 2)]
    found = run(temporal, data, horizon=4)
    assert {t: set(rows) for t, rows in found.items()} == {
        1: {(1,)},
        2: {(1,)},
        3: {(2,)},
        4: {(2,)},
    }


def test_scan_reads_a_subset_of_the_columns_in_their_type() -> None:
    scan = leaf(x=pa.float32())
    assert run(scan, [({"x": 0.1, "other": 1}, 0)]).at(0) == Counter({(0.10000000149011612,): 1})


def test_nested_values() -> None:
    scan = leaf(xs=pa.list_(pa.float64()), r=pa.struct([("a", pa.int64())]))
    data = stream(scan, ([-0.0, math.nan], {"a": 1}, 0), ([0.0, math.nan], {"a": 1}, 0))
    plan = Project(
        scan,
        (
            ("xs", scalar("`s.xs`", scan)),
            ("n", scalar("size(`s.xs`)", scan)),
            ("r", scalar("`s.r`", scan)),
        ),
    )
    assert run(plan, data).at(0) == Counter({((0.0, NAN), 2, (1,)): 2})
