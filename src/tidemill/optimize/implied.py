"""Conditions on one side of a join that follow from conditions on the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from tidemill.algebra.nodes import Conditional
from tidemill.algebra.scalar import Scalar, conjuncts
from tidemill.analyze.trees import COMPARISONS
from tidemill.optimize.equalities import Classes, equal_columns, known_equalities

_TESTS = (*COMPARISONS, exp.In, exp.Between)


def implied_tests(join: Conditional, tests: Sequence[Scalar]) -> list[Scalar]:
    """What the tests say about equal columns of the other side, beyond what the join says.

    A test is a comparison of one column with constants; other conditions are left aside.
    """
    said = conjuncts(join.condition)
    return [part for part in dict.fromkeys(_on_equals(join, tests)) if part not in said]


def _on_equals(join: Conditional, tests: Sequence[Scalar]) -> Iterator[Scalar]:
    own = equal_columns(join.condition, join.left.schema + join.right.schema)
    below = [pair for side in join.children for pair in known_equalities(side)]
    classes = Classes([*own, *below])
    for part in filter(_is_test, tests):
        (name,) = part.columns
        here = name in join.left.schema
        for equal in sorted(classes.of(name)):
            if (equal in join.left.schema) is not here:
                yield part.rename({name: equal})


def _is_test(part: Scalar) -> bool:
    node = part.node.unnest()
    return (
        isinstance(node, _TESTS)
        and isinstance(node.this, exp.Column)
        and len(list(node.find_all(exp.Column))) == 1
        and node.find(exp.Anonymous) is None
    )
