"""Random plans of the algebra: every operator, over every other, as far as they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

import pyarrow as pa
from sqlglot import parse_one

from tidemill.algebra import nodes, sets
from tidemill.algebra.aggregates import AggregateCall, UserAggregate, result_type
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.schema import Schema
from tidemill.expressions import infer

COLUMNS = Schema.of(k=pa.int32(), v=pa.int64(), f=pa.float64(), s=pa.string())
"""The columns of every random source."""

SOURCES = ("alpha", "beta", "gamma")
RELATION = "delta"

LONGEST = UserAggregate(
    "LONGEST",
    init=lambda text: text,
    merge=lambda a, b: max(a, b, key=lambda text: (len(text), text)),
    eval=lambda text: text,
    type=pa.string(),
)


T = TypeVar("T")


class PlanGenerator:
    """Builds plans from a seeded source of randomness."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0

    def plan(self, depth: int) -> Plan:
        """A random plan of at most so many levels above the windows."""
        if depth == 0:
            return self._windowed_scan()
        kind = self._random.choice(self._OPERATORS)
        return kind(self, depth)

    # Leaves

    def _windowed_scan(self) -> Plan:
        scan = self._scan()
        if scan.kind is nodes.SourceKind.CONSTANT:
            return scan
        return self._window(scan) if self._random.random() < 0.85 else scan

    def _scan(self) -> nodes.Scan:
        alias = self._fresh("t")
        if self._random.random() < 0.1:
            return nodes.Scan(RELATION, alias, COLUMNS, nodes.SourceKind.CONSTANT)
        return nodes.Scan(self._random.choice(SOURCES), alias, COLUMNS)

    def _window(self, child: Plan) -> Plan:
        slide = self._random.choice([1, 1, 1, 2, 3, 5])
        kind = self._random.random()
        if kind < 0.6:
            size = self._random.choice([1, 2, 3, 5, 8, None])
            return nodes.TimeWindow(child, size, slide)
        rows = self._random.choice([1, 2, 3, 5, None])
        by: tuple[str, ...] = ()
        if kind > 0.8:
            by = tuple(self._some(child.schema.names, 2))
        return nodes.CountWindow(child, rows, slide, by)

    # One input

    def _filter(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        return nodes.Filter(child, self._condition(child.schema))

    def _project(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        items = [(self._fresh("p"), self._expression(child.schema)) for _ in range(3)]
        return nodes.Project(child, tuple(items))

    def _distinct(self, depth: int) -> Plan:
        return nodes.Distinct(self._narrow(self.plan(depth - 1)))

    def _aggregate(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        keys = tuple(self._some(child.schema.names, 2))
        calls = [self._call(child.schema) for _ in range(self._random.randint(1, 3))]
        return nodes.Aggregate(child, keys, tuple(calls))

    def _call(self, schema: Schema) -> AggregateCall:
        name = self._fresh("a")
        argument = self._random.choice(schema.names)
        kind = schema[argument]
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        functions = ["COUNT", "MIN", "MAX"]
        if numeric:
            functions += ["SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP"]
        if pa.types.is_string(kind):
            functions.append("LONGEST")
        function = self._random.choice(functions)
        if function == "LONGEST":
            return AggregateCall(name, function, argument, LONGEST.type, user=LONGEST)
        if function == "COUNT" and self._random.random() < 0.4:
            return AggregateCall(name, function, None, pa.int64())
        distinct = self._random.random() < 0.25
        return AggregateCall(name, function, argument, result_type(function, kind), distinct)

    def _topk(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        order = tuple(
            nodes.SortKey(name, self._random.random() < 0.5, self._random.random() < 0.5)
            for name in self._some(child.schema.names, 2)
        )
        return nodes.TopK(child, order, self._random.randint(1, 3), self._random.choice([0, 0, 1]))

    def _istream(self, depth: int) -> Plan:
        return nodes.Istream(self._narrow(self.plan(depth - 1)))

    def _dstream(self, depth: int) -> Plan:
        return nodes.Dstream(self._narrow(self.plan(depth - 1)))

    def _rstream(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        return child if may_stay_open(child) else nodes.Rstream(child)

    def _granularity(self, depth: int) -> Plan:
        return nodes.Granularity(self.plan(depth - 1), self._random.choice([2, 3, 4]))

    def _rewindowed(self, depth: int) -> Plan:
        """A window over a derived stream; open rows would have to be split without end."""
        child = self.plan(depth - 1)
        return child if may_stay_open(child) else self._window(child)

    # Two inputs

    def _join(self, depth: int) -> Plan:
        left, right = self.plan(depth - 1), self.plan(self._random.randint(0, depth - 1))
        return nodes.Join(left, right, self._match(left.schema, right.schema))

    def _semijoin(self, depth: int) -> Plan:
        left, right = self.plan(depth - 1), self.plan(self._random.randint(0, depth - 1))
        kind = self._random.choice([nodes.SemiJoin, nodes.AntiJoin])
        return kind(left, right, self._match(left.schema, right.schema))

    def _set_operation(self, depth: int) -> Plan:
        kind = self._random.choice(sets.SetOperation.__subclasses__())
        left = self._two_columns(self.plan(depth - 1))
        right = self._two_columns(self.plan(self._random.randint(0, depth - 1)))
        return kind(left, nodes.Project.renaming(right, left.schema.names))

    def _match(self, left: Schema, right: Schema) -> Scalar | None:
        """Equality on columns of the same type, and sometimes more; or no condition."""
        pairs = [(a.name, b.name) for a in left for b in right if a.type == b.type]
        parts = [f"`{a}` = `{b}`" for a, b in self._some(pairs, 2)]
        if pairs and self._random.random() < 0.3:
            a, b = self._random.choice(pairs)
            operator = self._random.choice(["<", "<>", "<=>", ">="])
            parts.append(f"`{a}` {operator} `{b}`")
        return self._scalar(" AND ".join(parts), left + right) if parts else None

    # Expressions

    def _condition(self, schema: Schema) -> Scalar:
        return self._scalar(self._test(schema), schema)

    def _test(self, schema: Schema) -> str:
        name = self._random.choice(schema.names)
        kind = schema[name]
        choice = self._random.random()
        if choice < 0.15:
            return f"`{name}` IS {self._random.choice(['', 'NOT '])}NULL"
        if choice < 0.35:
            joint = self._random.choice(["AND", "OR"])
            return f"({self._test(schema)} {joint} {self._test(schema)})"
        if choice < 0.45:
            return f"NOT ({self._test(schema)})"
        operator = self._random.choice(["=", "<>", "<", ">="])
        return f"`{name}` {operator} {self._literal(kind)}"

    def _literal(self, kind: pa.DataType) -> str:
        if pa.types.is_string(kind):
            return self._random.choice(["'a'", "'b'", "'ä'", "''"])
        if pa.types.is_boolean(kind):
            return self._random.choice(["TRUE", "FALSE"])
        return str(self._random.randint(-1, 4))

    def _expression(self, schema: Schema) -> Scalar:
        name = self._random.choice(schema.names)
        kind = schema[name]
        texts = [f"`{name}`", f"COALESCE(`{name}`, {self._literal(kind)})"]
        texts.append(f"CASE WHEN {self._test(schema)} THEN `{name}` END")
        if pa.types.is_integer(kind):
            texts += [f"`{name}` + 1", f"`{name}` * 2", f"`{name}` % 2"]
        if pa.types.is_floating(kind):
            texts.append(f"`{name}` / 2")
        if pa.types.is_string(kind):
            texts += [f"UPPER(`{name}`)", f"LENGTH(`{name}`)", f"CONCAT(`{name}`, 'x')"]
        return self._scalar(self._random.choice(texts), schema)

    def _scalar(self, text: str, schema: Schema) -> Scalar:
        node = parse_one(text, read="spark")
        return Scalar(node, infer(node, schema, {}))

    # Shapes

    def _narrow(self, plan: Plan) -> Plan:
        """Few columns, so that rows meet their equals."""
        return self._two_columns(plan) if self._random.random() < 0.7 else plan

    def _two_columns(self, plan: Plan) -> Plan:
        """Two columns of fixed types: an integer and a text."""
        number = [f for f in plan.schema if pa.types.is_integer(f.type)]
        text = [f for f in plan.schema if pa.types.is_string(f.type)]
        first = (
            f"CAST(`{self._random.choice(number).name}` AS BIGINT)"
            if number
            else "CAST(1 AS BIGINT)"
        )
        second = column(self._random.choice(text).name, pa.string()) if text else None
        items = (
            (self._fresh("n"), self._scalar(first, plan.schema)),
            (self._fresh("x"), second or self._scalar("'z'", plan.schema)),
        )
        return nodes.Project(plan, items)

    def _some(self, values: Sequence[T], most: int) -> list[T]:
        count = min(self._random.randint(0, most), len(values))
        return self._random.sample(list(values), count)

    def _fresh(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    _OPERATORS: tuple[Callable[[PlanGenerator, int], Plan], ...] = (
        _filter,
        _project,
        _distinct,
        _aggregate,
        _aggregate,
        _topk,
        _istream,
        _dstream,
        _rstream,
        _granularity,
        _rewindowed,
        _join,
        _join,
        _semijoin,
        _semijoin,
        _set_operation,
        _set_operation,
    )


def may_stay_open(plan: Plan) -> bool:
    """Whether rows of the result may hold for ever."""
    match plan:
        case nodes.Istream() | nodes.Dstream() | nodes.Rstream():
            return False
        case nodes.TimeWindow():
            return plan.size is None
        case nodes.CountWindow():
            return True
        case nodes.Scan():
            return plan.kind is not nodes.SourceKind.STREAM
        case _:
            return any(may_stay_open(child) for child in plan.children)
