"""Random plans to which a rule should apply, one kind per rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from random import Random

import pyarrow as pa

from tests.random.plans import COLUMNS, SOURCES, PlanGenerator, may_stay_open
from tidemill.algebra import nodes, sets
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.over_rows import OverCall, OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.promises import Range, Recurrence
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.schema import Field, Schema
from tidemill.algebra.types import is_numeric


class RulePlans(PlanGenerator):
    """Plans with the shape that a rule looks for, over random parts."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._pick = random.choice

    def part(self) -> Plan:
        return self.plan(self._pick([0, 0, 1, 1, 2]))

    def ending(self) -> Plan:
        """A part whose rows end, so that windows may stand above it."""
        part = self.part()
        return self._stream() if may_stay_open(part) else part

    def _stream(self) -> Plan:
        return nodes.Scan(self._pick(SOURCES), self._fresh("t"), COLUMNS)

    def filtered(self, child: Plan) -> Plan:
        return nodes.Filter(child, self._condition(child.schema))

    def projected(self, child: Plan) -> Plan:
        items = [(self._fresh("p"), self._expression(child.schema)) for _ in range(3)]
        return nodes.Project(child, tuple(items))

    def pair(self) -> tuple[Plan, Plan]:
        """Two inputs of a set operation."""
        left = self._two_columns(self.part())
        right = self._two_columns(self.part())
        return left, nodes.Project.renaming(right, left.schema.names)

    def keyed(self) -> Plan:
        """A part with a key."""
        child = self.part()
        keys = tuple(self._some(child.schema.names, 2))
        calls = (AggregateCall(self._fresh("a"), "COUNT", None, pa.int64()),)
        grouped = nodes.Aggregate(child, keys, calls)
        window = nodes.CountWindow(self._stream(), 1)
        return self._pick([grouped, grouped, nodes.Distinct(self._two_columns(child)), window])

    # One shape per rule

    def merge_filters(self) -> Plan:
        return self.filtered(self.filtered(self.part()))

    def merge_projects(self) -> Plan:
        return self.projected(self._pick([self.projected, self._two_columns])(self.part()))

    def simplify_filters(self) -> Plan:
        child = self.part()
        name = self._pick(child.schema.names)
        test = self._test(child.schema)
        forms = [
            f"({test}) AND 1 = 1",
            f"({test}) AND ({test})",
            f"({test}) OR CAST(NULL AS STRING) = 'a'",
            f"NOT (({test}) AND NULL IS NULL)",
            f"({test}) AND ('a' = 'b' OR `{name}` IS NULL)",
            f"`{name}` IS NOT NULL AND 1 > 2",
            "'a' <=> NULL OR 3 IN (1, 2) OR 2 = 2",
        ]
        return nodes.Filter(child, self._scalar(self._pick(forms), child.schema))

    def remove_empty_parts(self) -> Plan:
        left, right = self.pair()
        never = self._scalar("FALSE", left.schema)
        kinds = [sets.Union, sets.MaxUnion, sets.Difference, sets.StrictDifference]
        if self._random.random() < 0.2:
            other = nodes.Filter(self._two_columns(self.part()), never)
            return nodes.AntiJoin(left, other, self._match(left.schema, other.schema))
        kind = self._pick(kinds)
        if kind in kinds[:2] and self._random.random() < 0.4:
            return kind(nodes.Filter(left, never), right)
        return kind(left, nodes.Filter(right, never))

    def cancel_difference(self) -> Plan:
        kept, added = self.pair()
        taken = added if self._random.random() < 0.7 else self.pair()[1]
        taken = nodes.Project.renaming(taken, kept.schema.names)
        added = nodes.Project.renaming(added, kept.schema.names)
        both = (kept, added) if self._random.random() < 0.5 else (added, kept)
        return sets.Difference(sets.Union(*both), taken)

    def take_first_rows(self) -> Plan:
        child = self.part()
        order = tuple(
            nodes.SortKey(name, self._random.random() < 0.5)
            for name in self._some(child.schema.names, 2)
        )
        by = tuple(child.schema.names[:1]) if self._random.random() < 0.2 else ()
        number = OverCall(self._fresh("n"), "ROW_NUMBER", (), pa.int32())
        numbered = OverRows(child, by, order, (number,))
        test = self._pick(["{} <= 2", "{} < 3", "{} = 1", "2 >= {}", "{} = 2", "{} > 1"])
        text = test.format(f"`{number.name}`")
        text = self._pick([text, f"{text} AND {self._test(child.schema)}"])
        tested = nodes.Filter(numbered, self._scalar(text, numbered.schema))
        names = child.schema.names if self._random.random() < 0.85 else numbered.schema.names
        items = tuple((name, column(name, numbered.schema[name])) for name in names)
        return nodes.Project(tested, items)

    def remove_now_windows(self) -> Plan:
        return self._pick([lambda p: p, self.filtered, self.projected])(
            nodes.TimeWindow(self.ending(), 1)
        )

    def join_on_filters(self) -> Plan:
        left, right = self.part(), self.part()
        join = nodes.Join(left, right, self._match(left.schema, right.schema))
        more = self._match(left.schema, right.schema)
        return self.filtered(join) if more is None else nodes.Filter(join, more)

    def derive_filters(self) -> Plan:
        left, right = self._two_columns(self.part()), self._two_columns(self.part())
        at = self._pick([0, 1])
        one, other = left.schema.names[at], right.schema.names[at]
        text = f"`{one}` = `{other}` AND `{self._pick([one, other])}` {self._comparison(at)}"
        join = nodes.Join(left, right, self._scalar(text, left.schema + right.schema))
        if self._random.random() < 0.6:
            return join
        third = self._two_columns(self.part())
        name = third.schema.names[at]
        test = f"`{name}` = `{one}` AND `{name}` {self._comparison(at)}"
        return nodes.Join(join, third, self._scalar(test, join.schema + third.schema))

    def order_joins(self) -> Plan:
        return self._joins(self._pick([3, 3, 4]))

    def aggregate_early(self) -> Plan:
        join = self._joins(self._pick([2, 2, 3]))
        numbers = [field.name for field in join.schema if pa.types.is_integer(field.type)]
        function, name = self._pick(["SUM", "COUNT", "MIN", "AVG"]), self._pick(numbers)
        kind = pa.float64() if function == "AVG" else pa.int64()
        calls = (
            AggregateCall(self._fresh("a"), function, name, kind),
            AggregateCall(self._fresh("a"), "COUNT", None, pa.int64()),
        )
        return nodes.Aggregate(join, tuple(self._some(join.schema.names, 2)), calls)

    def rank_objects(self) -> Plan:
        """Groups of one or several streams, with promises that any rows keep, or without."""
        alone, size = self._random.random() < 0.3, self._pick([2, 5])
        streams = [self._objects(size) for _ in range(self._pick([1, 2, 3]))]
        rows = reduce(sets.Union, streams)
        by_count = self._random.random() < 0.3
        window = nodes.CountWindow(rows, size) if by_count else nodes.TimeWindow(rows, size)
        functions = ["MAX", "MAX"] if alone else self._pick([["SUM", "MAX"], ["COUNT", "SUM"]])
        calls = tuple(
            AggregateCall(name, function, name.upper(), pa.int64())
            for name, function in zip("vw", functions, strict=True)
        )
        grouped = nodes.Aggregate(window, tuple(self._pick([["k"], ["s", "k"]])), calls)
        forms = ["v", "GREATEST(v, w)"] if alone else ["v + w", "2 * v", "COALESCE(v, 0) + w"]
        keys = tuple((f"{key}", column(key, grouped.schema[key])) for key in grouped.keys)
        score = self._scalar(self._pick(forms), grouped.schema)
        items = (*keys, ("score", score), ("also", column("v", pa.int64())))
        order = (nodes.SortKey("score", descending=True, nulls_first=False),)
        places = self._pick([1, 2, 3]), self._pick([0, 0, 1])
        return nodes.TopK(nodes.Project(grouped, items), order, *places)

    def _objects(self, size: int) -> Plan:
        """A stream whose objects have at most a hundred rows, with small numbers."""
        recurs = self._pick([Recurrence(100, ("k",)), Recurrence(100, ("k",), within=size)])
        scan = nodes.Scan(self._pick(SOURCES), self._fresh("t"), COLUMNS, recurs=recurs)
        held = Range(0, self._pick([1, 5]), clip=True)
        value = held.held(column(f"{scan.alias}.v", pa.int64()), "v")
        none = self._scalar("CAST(NULL AS BIGINT)", scan.schema)
        plain = [(name, column(f"{scan.alias}.{name}", COLUMNS[name])) for name in ("k", "s")]
        return nodes.Project(scan, (*plain, ("V", value), ("W", self._pick([value, none]))))

    def _joins(self, count: int) -> Plan:
        """Inputs of a number and a text each, joined on either, or by comparisons, or not."""
        joined = self._two_columns(self.plan(self._pick([0, 0, 1])))
        for _ in range(count - 1):
            other = self._two_columns(self.plan(self._pick([0, 0, 1])))
            number, text = other.schema.names
            old = self._random.randrange(0, len(joined.schema), 2)
            first, second = joined.schema.names[old : old + 2]
            forms = [
                f"`{number}` = `{first}`",
                f"`{number}` = `{first}`",
                f"`{text}` = `{second}`",
                f"`{number}` = `{first}` AND `{text}` = `{second}`",
                f"`{text}` = UPPER(`{second}`) AND `{number}` >= `{first}`",
                f"`{number}` < `{first}`",
                f"`{text}` <=> `{second}`",
            ]
            schema = joined.schema + other.schema
            joined = nodes.Join(joined, other, self._scalar(self._pick(forms), schema))
        return joined

    def _comparison(self, at: int) -> str:
        kind = [pa.int64(), pa.string()][at]
        return self._pick(["= {}", "< {}", "<> {}", "IN ({}, {})", "BETWEEN {} AND {}"]).format(
            self._literal(kind), self._literal(kind)
        )

    def push_filters(self) -> Plan:
        if self._random.random() < 0.3:
            return self._pick([self._on_keys, self._on_partitions, self._on_sides])(1)
        below: list[Callable[[int], Plan]] = [
            self._project,
            self._distinct,
            self._istream,
            self._dstream,
            self._rstream,
            self._granularity,
            self._rewindowed,
            self._semijoin,
            self._semijoin,
            self._set_operation,
            self._set_operation,
            self._set_operation,
        ]
        return self.filtered(self._pick(below)(self._pick([1, 1, 2])))

    def _on_keys(self, depth: int) -> Plan:
        child = self.plan(depth - 1)
        keys = tuple(self._random.sample(child.schema.names, 2))
        grouped = nodes.Aggregate(child, keys, (self._call(child.schema),))
        return nodes.Filter(grouped, self._condition(child.schema.select(keys)))

    def _on_partitions(self, depth: int) -> Plan:
        child = self.ending()
        by = tuple(self._random.sample(child.schema.names, min(2, len(child.schema))))
        window = nodes.CountWindow(child, self._pick([1, 2, None]), self._pick([1, 2]), by)
        return nodes.Filter(window, self._condition(child.schema.select(by)))

    def _on_sides(self, depth: int) -> Plan:
        left, right = self.plan(depth - 1), self.plan(depth - 1)
        kind = self._pick([nodes.Join, nodes.SemiJoin, nodes.AntiJoin])
        tests = [self._test(side.schema) for side in (left, right)]
        match = self._match(left.schema, right.schema)
        text = " AND ".join([*tests, *([] if match is None else [match.node.sql("spark")])])
        return kind(left, right, self._scalar(text, left.schema + right.schema))

    def compare_with_extremes(self) -> Plan:
        """Rows against all or any of others, or of their own; NULLs count, as in SQL, or not."""
        right = self.part()
        own = nodes.Project.renaming(right, tuple(self._fresh("l") for _ in right.schema))
        left = self._pick([self.part(), own, self.filtered(own)])
        pairs = [(a, b) for a in left.schema for b in right.schema if self._compare(a, b)]
        if not pairs:
            return nodes.SemiJoin(left, right, self._match(left.schema, right.schema))
        same = [(a, b) for a, b in zip(left.schema, right.schema, strict=False) if (a, b) in pairs]
        x, v = (f"`{field.name}`" for field in self._pick(self._pick([pairs, same or pairs])))
        operator = self._pick(["<", "<", "<=", ">", ">", ">=", "<>"])
        text = self._pick([f"{x} {operator} {v}", f"{v} {operator} {x}"])
        unknown = f"({x} = {v}) IS NULL"
        text = self._pick([text, f"({text} OR {unknown})", f"({text} OR {unknown})", unknown])
        if self._random.random() < 0.4:
            one, other = self._pick(pairs)
            text += f" AND `{one.name}` {self._pick(['=', '<=>'])} `{other.name}`"
        kind = self._pick([nodes.SemiJoin, nodes.AntiJoin, nodes.AntiJoin])
        return kind(left, right, self._scalar(text, left.schema + right.schema))

    def _compare(self, one: Field, other: Field) -> bool:
        """Whether columns can be compared without a cast that may fail."""
        return one.type == other.type or (is_numeric(one.type) and is_numeric(other.type))

    def replace_semi_joins(self) -> Plan:
        left, right = self.part(), self.keyed()
        if isinstance(right, nodes.Aggregate) and self._random.random() < 0.5:
            right = replace(right, keys=())
        pairs = [(a.name, b.name) for b in right.schema for a in left.schema if a.type == b.type]
        tied = [f"`{a}` {self._pick(['=', '<=>'])} `{b}`" for a, b in pairs]
        text = " AND ".join(dict.fromkeys(tied)) or "TRUE"
        return nodes.SemiJoin(left, right, self._scalar(text, left.schema + right.schema))

    def remove_distinct(self) -> Plan:
        left, right = self.pair()
        once = nodes.Distinct(right)
        shapes = [
            nodes.Distinct(self.filtered(self.keyed())),
            nodes.Distinct(sets.Union(left, once)),
            nodes.Distinct(sets.MaxUnion(nodes.Distinct(left), once)),
            sets.StrictDifference(left, once),
            nodes.Distinct(sets.Intersection(left, once)),
            self._of_distinct(),
            self._of_keyed(),
        ]
        return self._pick(shapes)

    def _of_distinct(self) -> Plan:
        left, right = self.part(), nodes.Distinct(self._two_columns(self.part()))
        kind = self._pick([nodes.SemiJoin, nodes.AntiJoin])
        return kind(left, right, self._match(left.schema, right.schema))

    def _of_keyed(self) -> Plan:
        left, right = self.keyed(), self.keyed()
        return nodes.Distinct(nodes.Join(left, right, self._match(left.schema, right.schema)))

    def push_distinct(self) -> Plan:
        left, right = self._two_columns(self.part()), self._two_columns(self.part())
        match = self._match(left.schema, right.schema)
        join = nodes.Join(left, right, match)
        pairs = zip(left.schema.names, right.schema.names, strict=True)
        text = " AND ".join(f"`{a}` = `{b}`" for a, b in pairs)
        tied = nodes.Join(left, right, self._scalar(text, join.schema))
        child = self._pick([join, self._shuffled(join), self._columns(tied, left.schema)])
        return nodes.Distinct(child)

    def _shuffled(self, child: Plan) -> Plan:
        fields = self._random.sample(child.schema.fields, len(child.schema))
        return self._columns(child, Schema(tuple(fields)))

    def _columns(self, child: Plan, schema: Schema) -> Plan:
        items = ((self._fresh("c"), column(f.name, f.type)) for f in schema)
        return nodes.Project(child, tuple(items))

    def push_projects(self) -> Plan:
        if self._random.random() < 0.2:
            return self.projected(sets.Union(*self.pair()))
        window = self._window(self.ending())
        if isinstance(window, nodes.CountWindow) and self._random.random() < 0.9:
            return self._in_order(window)
        return self.projected(window)

    def _in_order(self, window: nodes.CountWindow) -> Plan:
        """The first columns, and what follows from them."""
        names = window.schema.names
        longest = max([names.index(name) + 1 for name in window.partition_by], default=0)
        prefix = window.schema.select(names[: max(longest, self._random.randint(1, len(names)))])
        items = [(self._fresh("c"), column(f.name, f.type)) for f in prefix]
        more: list[tuple[str, Scalar]] = [(self._fresh("c"), self._expression(prefix))]
        return nodes.Project(window, tuple(items + self._pick([[], more])))

    def push_windows(self) -> Plan:
        left, right = self._two_columns(self.ending()), self._two_columns(self.ending())
        union = sets.Union(left, nodes.Project.renaming(right, left.schema.names))
        return nodes.TimeWindow(union, self._pick([1, 2, 5, None]), self._pick([1, 1, 2, 3]))

    def prune_columns(self) -> Plan:
        return self.plan(2)
