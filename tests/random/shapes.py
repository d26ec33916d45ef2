"""Random lives of a graph with queries of few shapes, which come and go with other constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random

import pyarrow as pa
from sqlglot import exp

from tests.checking.plans import Inputs
from tests.random.graphs import GraphCase, GraphLife
from tests.random.plans import COLUMNS, SOURCES
from tidemill.algebra import Plan, Schema
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate, Distinct, Filter, Join, Project, Scan, TimeWindow
from tidemill.algebra.scalar import Scalar, column, column_node, equality, rewrite
from tidemill.graph.shapes import ConstantRelations, Shapes, is_constants
from tidemill.optimize import optimized
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.runtime.sources import Source

_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ)
_WORDS = "abcd"


class ShapeLife(GraphLife):
    """A graph in which queries of one shape run as one plan, from the first or a later one on."""

    def _open(self) -> None:
        self._constants = ConstantRelations()
        super()._open()
        self.shapes = Shapes(self.graph, self._constants, self.random.choice([1, 1, 2]))

    def _opener(self) -> Callable[[str], Source]:
        known = super()._opener()
        return lambda name: self._constants.open(name) if is_constants(name) else known(name)

    def _planned(self, plan: Plan) -> Exec:
        best = optimized(plan, Statistics(), frozenset()).plan
        return self.shapes.plan_of(best, {}) or super()._planned(plan)


@dataclass(frozen=True)
class ShapeCase(GraphCase):
    """A life of such a graph."""

    def _begun(self, folder: str) -> GraphLife:
        return ShapeLife(self.inputs, self.random, folder, self.make)

    def _change(self, life: GraphLife) -> None:
        match self.random.choice(["add", "add", "add", "migrate", "remove"]):
            case "add":
                life.add(with_other_constants(self.random.choice(self.plans), self.random))
            case "migrate":
                life.migrate()
            case "remove":
                life.remove()


def random_shapes(random: Random, inputs: Inputs) -> ShapeCase:
    """Some plans whose conditions have constants, and a random life of a graph with others like
    them."""
    return ShapeCase(inputs, tuple(_plan(random) for _ in range(3)), random)


def with_other_constants(plan: Plan, random: Random) -> Plan:
    """The same plan with other constants in its conditions."""

    def other(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Literal):
            return _word(random) if node.is_string else _number(random)
        return node

    def changed(node: Plan) -> Plan:
        if not isinstance(node, Filter):
            return node
        return replace(node, predicate=Scalar(rewrite(node.predicate.node, other), pa.bool_()))

    return plan.rewrite(changed)


def _plan(random: Random) -> Plan:
    rows = _windowed(random, "t")
    if random.random() < 0.3:
        other = _windowed(random, "u")
        on = equality(*(column(name, COLUMNS["k"]) for name in ("t.k", "u.k")))
        rows = Join(rows, other, on)
    match random.choice(["rows", "groups", "groups", "all", "distinct"]):
        case "groups":
            return _having(_counted(rows, ("t.k",)), random)
        case "all":
            return _having(_counted(rows, ()), random)
        case "distinct":
            names = random.sample(rows.schema.names, 2)
            items = tuple((name, column(name, rows.schema[name])) for name in names)
            return Distinct(Project(rows, items))
    return rows


def _windowed(random: Random, alias: str) -> Plan:
    scan = Scan(random.choice(SOURCES), alias, COLUMNS)
    size = random.choice([1, 2, 3, 5, 8])
    if random.random() < 0.5:
        return TimeWindow(_where(scan, random), size, random.choice([1, 1, 2]))
    return _where(TimeWindow(scan, size), random)


def _counted(rows: Plan, keys: tuple[str, ...]) -> Plan:
    counted = AggregateCall("n", "COUNT", None, pa.int64())
    largest = AggregateCall("m", "MAX", "t.v", rows.schema["t.v"])
    return Aggregate(rows, keys, (counted, largest))


def _having(groups: Plan, random: Random) -> Plan:
    if random.random() < 0.5:
        return groups
    more = exp.GT(this=column_node("n"), expression=_number(random))
    return Filter(groups, Scalar(more, pa.bool_()))


def _where(plan: Plan, random: Random) -> Plan:
    names = random.choices(_comparable(plan.schema), k=random.choice([1, 1, 2]))
    tests = [_comparison(name, plan.schema, random) for name in names]
    whole = exp.and_(*tests, copy=False) if random.random() < 0.7 else exp.or_(*tests, copy=False)
    return Filter(plan, Scalar(whole, pa.bool_()))


def _comparable(schema: Schema) -> list[str]:
    kinds = (pa.int64(), pa.int32(), pa.string(), pa.float64())
    return [each.name for each in schema if each.type in kinds]


def _comparison(name: str, schema: Schema, random: Random) -> exp.Expr:
    constants: Iterable[exp.Expr] = (
        _word(random) if schema[name] == pa.string() else _number(random) for _ in range(2)
    )
    low, high = constants
    if random.random() < 0.2:
        return exp.Between(this=column_node(name), low=low, high=high)
    kind = random.choice(_COMPARISONS)
    if random.random() < 0.2:
        return kind(this=low, expression=column_node(name))
    return kind(this=column_node(name), expression=low)


def _number(random: Random) -> exp.Expr:
    return exp.Literal.number(random.randrange(6))


def _word(random: Random) -> exp.Expr:
    return exp.Literal.string(random.choice(_WORDS))
