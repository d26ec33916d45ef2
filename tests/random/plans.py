"""Random plans of the algebra: every operator, over every other, as far as they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

import pyarrow as pa
from sqlglot import parse_one

from tidemill.algebra import nodes, sets
from tidemill.algebra.aggregates import AggregateCall, UserAggregate, result_type
from tidemill.algebra.over_rows import (
    PICKS,
    RANKS,
    SHIFTS,
    WHOLE,
    OverCall,
    OverRows,
    RowFrame,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.schema import Schema
from tidemill.algebra.unnest import Unnest
from tidemill.expressions import infer

COLUMNS = Schema.of(k=pa.int32(), v=pa.int64(), f=pa.float64(), s=pa.string())
"""The columns of every random source."""

SOURCES = ("alpha", "beta", "gamma")
RELATION = "delta"

FRAMES = (
    WHOLE,
    RowFrame(),
    RowFrame("ROWS", -1, 1),
    RowFrame("ROWS", None, -1),
    RowFrame("ROWS", 1, None),
    RowFrame("GROUPS", -1, 0),
)

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
        self._made: list[Plan] = []
        self._free: list[Plan] = []

    def plans(self, depths: Sequence[int]) -> list[Plan]:
        """Random plans of at most so many levels, most of whose windows occur in several."""
        found = []
        for depth in depths:
            self._free = self._random.sample(self._made, len(self._made))
            found.append(self.plan(depth))
        self._free = []
        return found

    def plan(self, depth: int) -> Plan:
        """A random plan of at most so many levels above the windows."""
        if depth == 0:
            return self._leaf()
        kind = self._random.choice(self._OPERATORS)
        return kind(self, depth)

    # Leaves

    def _leaf(self) -> Plan:
        """A scan below a window, perhaps one that an earlier plan has."""
        if self._free and self._random.random() < 0.8:
            return self._free.pop()
        self._made.append(self._windowed_scan())
        return self._made[-1]

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
            delay = self._random.choice([0, 0, 0, 0, 1, 3])
            return nodes.TimeWindow(child, size, slide, delay)
        rows = self._random.choice([1, 2, 3, 5, None])
        by: tuple[str, ...] = ()
        if self._random.random() < 0.5:
            by = tuple(self._some(child.schema.names, 2))
        if kind > 0.85:
            return nodes.SessionWindow(child, self._random.choice([1, 2, 3, 4]), by)
        return nodes.CountWindow(child, rows, slide, by)

    # One input

    def _filter(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        return nodes.Filter(child, self._condition(child.schema))

    def _project(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        items = [(self._fresh("p"), self._expression(child.schema)) for _ in range(3)]
        return nodes.Project(child, tuple(items))

    def _unnest(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        element, ordinal = self._fresh("e"), self._random.choice([None, self._fresh("o")])
        kept = tuple(name for name in child.schema.names if self._random.random() < 0.8)
        outer = self._random.random() < 0.4
        return Unnest(child, self._list(child.schema), element, ordinal, outer, kept)

    def _list(self, schema: Schema) -> Scalar:
        """A list of up to two values of a column and a literal, or none."""
        name = self._random.choice(schema.names)
        cells = [f"`{name}`", self._literal(schema[name]), f"`{name}`"][
            : self._random.randint(1, 3)
        ]
        made = f"ARRAY({', '.join(cells)})"
        texts = [made, f"ARRAY_COMPACT({made})", f"CASE WHEN {self._test(schema)} THEN {made} END"]
        return self._scalar(self._random.choice(texts), schema)

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

    def _over_rows(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        by = tuple(self._some(child.schema.names, 2))
        order = tuple(
            nodes.SortKey(name, self._random.random() < 0.5, self._random.random() < 0.5)
            for name in self._some(child.schema.names, 2)
        )
        calls = [self._over_call(child.schema) for _ in range(self._random.randint(1, 3))]
        return OverRows(child, by, order, tuple(calls))

    def _over_call(self, schema: Schema) -> OverCall:
        name, argument = self._fresh("w"), self._random.choice(schema.names)
        frame = self._random.choice(FRAMES)
        ignores = self._random.random() < 0.3
        match self._random.choice(["rank", "shift", "pick", "aggregate", "aggregate"]):
            case "rank":
                function = self._random.choice(list(RANKS))
                options = (self._random.randint(1, 3),) if function == "NTILE" else ()
                return OverCall(name, function, (), RANKS[function], options=options)
            case "shift":
                function, far = self._random.choice(SHIFTS), (self._random.randint(0, 2),)
                kind = schema[argument]
                return OverCall(name, function, (argument,), kind, WHOLE, far, ignores)
            case "pick":
                function = self._random.choice(PICKS)
                options = (2,) if function == "NTH_VALUE" else ()
                kind = schema[argument]
                return OverCall(name, function, (argument,), kind, frame, options, ignores)
        call = replace(self._call(schema), distinct=False)
        arguments = () if call.argument is None else (call.argument,)
        return OverCall(call.name, call.function, arguments, call.type, frame, aggregate=call)

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
        _unnest,
        _distinct,
        _aggregate,
        _aggregate,
        _topk,
        _over_rows,
        _over_rows,
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
