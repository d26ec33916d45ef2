"""Which columns of a plan are equal in every row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, conjuncts
from tidemill.algebra.schema import Schema
from tidemill.algebra.unnest import Unnest
from tidemill.optimize.sharing import opened

Pair = tuple[str, str]


def equal_columns(condition: Scalar | None, schema: Schema) -> Iterator[Pair]:
    """The columns of one type that a condition takes to be equal.

    >>> import pyarrow as pa
    >>> from sqlglot import parse_one
    >>> condition = Scalar(parse_one("a = b AND c <=> a AND a > 1", read="spark"), pa.bool_())
    >>> list(equal_columns(condition, Schema.of(a=pa.int64(), b=pa.int64(), c=pa.int64())))
    [('a', 'b'), ('c', 'a')]
    """
    for part in conjuncts(condition):
        node = part.node.unnest()
        if not isinstance(node, exp.EQ | exp.NullSafeEQ):
            continue
        one, other = node.left.unnest(), node.right.unnest()
        if not (isinstance(one, exp.Column) and isinstance(other, exp.Column)):
            continue
        # Numbers of different types may be equal without being the same.
        if schema[one.name] == schema[other.name]:
            yield one.name, other.name


def known_equalities(plan: Plan) -> list[Pair]:
    """The columns of a plan that are equal in all its rows, as far as is known."""
    plan = opened(plan)
    match plan:
        case nodes.Filter(child, predicate):
            return [*known_equalities(child), *equal_columns(predicate, plan.schema)]
        case nodes.Join(left, right, condition):
            own = equal_columns(condition, plan.schema)
            return [*known_equalities(left), *known_equalities(right), *own]
        case nodes.Project(child, items):
            return list(_projected(known_equalities(child), items))
        case nodes.Aggregate(child, keys):
            return [pair for pair in known_equalities(child) if set(pair) <= set(keys)]
        case Unnest(child, kept=kept):
            return [pair for pair in known_equalities(child) if set(pair) <= set(kept)]
        case nodes.Unary(child):
            return known_equalities(child)
        case nodes.SemiJoin() | nodes.AntiJoin():
            return known_equalities(plan.left)
        case sets.SetOperation() if plan.facts.sides is sets.Sides.LEFT:
            return known_equalities(plan.left)
    return []


def _projected(pairs: Iterable[Pair], items: tuple[tuple[str, Scalar], ...]) -> Iterator[Pair]:
    """Equalities under the names that a projection gives; copies of a column are equal."""
    names: dict[str, str] = {}
    for name, item in items:
        if item.is_column:
            first = names.setdefault(item.node.name, name)
            if first != name:
                yield first, name
    for one, other in pairs:
        if one in names and other in names:
            yield names[one], names[other]


class Classes:
    """Columns in classes of equal ones.

    >>> sorted(Classes([("a", "b"), ("c", "b")]).of("a"))
    ['a', 'b', 'c']
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._classes: dict[str, set[str]] = {}
        for one, other in pairs:
            joined = self.of(one) | self.of(other)
            self._classes.update(dict.fromkeys(joined, joined))

    def of(self, name: str) -> set[str]:
        """All columns that are equal to this one, itself included."""
        return self._classes.get(name, {name})
