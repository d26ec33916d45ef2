"""Algorithm 1 of the text, row by row: windows, aggregation sets, increments and decrements.

With its faults put right: an input that is probed decides whether its window or its set is used,
and a value is weighed by the rows behind all other parts of a match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import Any

from tidemill.optimize.early.rule import early_aggregate

Row = dict[str, Any]


@dataclass
class Totals:
    """Aggregates of some rows: how many they are, and of each argument sum and extremes."""

    count: int = 0
    sums: Row = field(default_factory=dict)
    lows: Row = field(default_factory=dict)
    highs: Row = field(default_factory=dict)

    @classmethod
    def of(cls, values: Row) -> Totals:
        return cls(1, dict(values), dict(values), dict(values))

    def add(self, other: Totals) -> None:
        self.count += other.count
        self.sums = {c: self.sums.get(c, 0) + v for c, v in other.sums.items()}
        self.lows = {c: min(self.lows.get(c, v), v) for c, v in other.lows.items()}
        self.highs = {c: max(self.highs.get(c, v), v) for c, v in other.highs.items()}

    def subtract(self, other: Totals) -> bool:
        """Take rows out; True says that an extreme may have gone with them."""
        self.count -= other.count
        self.sums = {c: self.sums[c] - v for c, v in other.sums.items()}
        same_low = any(self.lows.get(c) == v for c, v in other.lows.items())
        return same_low or any(self.highs.get(c) == v for c, v in other.highs.items())

    def value(self, function: str, argument: str) -> Any:
        if function == "COUNT":
            return self.count
        if function == "AVG":
            return round(self.sums[argument] / self.count, 6)
        return {"SUM": self.sums, "MIN": self.lows, "MAX": self.highs}[function][argument]


@dataclass
class AggregationSet:
    """Groups and their totals; groups without rows are not there."""

    groups: dict[tuple[Any, ...], Totals] = field(default_factory=dict)

    def add(self, key: tuple[Any, ...], totals: Totals) -> None:
        self.groups.setdefault(key, Totals()).add(totals)

    def subtract(self, key: tuple[Any, ...], totals: Totals, left: Iterator[Totals]) -> None:
        """Take rows out of a group; `left` are its other rows, read only if an extreme goes."""
        group = self.groups[key]
        extreme = group.subtract(totals)
        if not group.count:
            del self.groups[key]
        elif extreme:
            rest = Totals()
            for part in left:
                rest.add(part)
            group.lows, group.highs = rest.lows, rest.highs


@dataclass
class Input:
    """A stream with its window, aggregated early by `grouping` if that is given."""

    rows: list[tuple[float, Row]]
    length: float
    arguments: list[str]
    grouping: tuple[str, ...] | None
    window: list[Row] = field(default_factory=list)
    set: AggregationSet = field(default_factory=AggregationSet)

    def increment(self, before: float, now: float) -> list[Row]:
        return [row for time, row in self.rows if before <= time < now]

    def decrement(self, before: float, now: float) -> list[Row]:
        return self.increment(before - self.length, now - self.length)

    def totals(self, row: Row) -> Totals:
        return Totals.of({argument: row[argument] for argument in self.arguments})

    def key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in self.grouping or ())

    def add(self, row: Row) -> None:
        self.window.append(row)
        if self.grouping is not None:
            self.set.add(self.key(row), self.totals(row))

    def remove(self, row: Row) -> None:
        self.window.remove(row)
        if self.grouping is not None:
            key = self.key(row)
            left = (self.totals(r) for r in self.window if self.key(r) == key)
            self.set.subtract(key, self.totals(row), left)

    def parts(self) -> Iterator[tuple[Row, Totals]]:
        """What a probe looks at: groups if there are any, else rows."""
        if self.grouping is None:
            yield from ((row, self.totals(row)) for row in self.window)
        else:
            for key, totals in self.set.groups.items():
                yield dict(zip(self.grouping, key, strict=True)), totals


def coalesced(parts: Sequence[Totals]) -> Totals:
    """Totals of all rows of a match: each part weighed by the rows behind the others."""
    count = prod(part.count for part in parts)
    sums = {c: v * count // part.count for part in parts for c, v in part.sums.items()}
    lows = {c: v for part in parts for c, v in part.lows.items()}
    return Totals(count, sums, lows, {c: v for part in parts for c, v in part.highs.items()})


@dataclass
class Execution:
    """A plan at work: `result` is the output's aggregation set, `join_rows` what it was given."""

    inputs: dict[str, Input]
    joins: list[tuple[str, str]]
    group_by: list[str]
    calls: list[tuple[str, str]]
    result: AggregationSet = field(default_factory=AggregationSet)
    now: float = 0
    join_rows: int = 0

    @classmethod
    def of(
        cls, query: Mapping[str, Any], rows: Mapping[str, Any], mask: Sequence[bool]
    ) -> Execution:
        calls = [tuple(text[:-1].split("(")) for text in aggregates(query)]
        joins = [tuple(pair) for pair in query["join"]]
        inputs = {
            stream["name"]: _input(stream, rows, query, calls, early)
            for stream, early in zip(query["streams"], mask, strict=True)
        }
        return cls(inputs, joins, query["group_by"], calls)

    def step(self, now: float) -> dict[str, dict[str, list[Row]]]:
        """Go on to an instant, stream by stream: its increment, then its decrement."""
        changes: dict[str, dict[str, list[Row]]] = {"increment": {}, "decrement": {}}
        for name, source in self.inputs.items():
            for row in changes["increment"].setdefault(name, source.increment(self.now, now)):
                source.add(row)
                for key, totals in self.matches(name, row):
                    self.result.add(key, totals)
                    self.join_rows += 1
            for row in changes["decrement"].setdefault(name, source.decrement(self.now, now)):
                source.remove(row)
                for key, totals in list(self.matches(name, row)):
                    self.result.subtract(key, totals, self.everything(key))
                    self.join_rows += 1
        self.now = now
        return changes

    def matches(self, name: str, row: Row) -> Iterator[tuple[tuple[Any, ...], Totals]]:
        """Group and totals of every match of a row of one input with parts of the others."""
        start = [(row, [self.inputs[name].totals(row)])]
        others = [source for other, source in self.inputs.items() if other != name]
        yield from self._joined(start, others)

    def everything(self, key: tuple[Any, ...]) -> Iterator[Totals]:
        """The virtual window of the output, as far as it is in one group."""
        matches = self._joined([({}, [])], list(self.inputs.values()))
        return (totals for group, totals in matches if group == key)

    def _joined(
        self, partial: list[tuple[Row, list[Totals]]], others: list[Input]
    ) -> Iterator[tuple[tuple[Any, ...], Totals]]:
        for source in others:
            partial = [
                (row | found, [*parts, totals])
                for row, parts in partial
                for found, totals in source.parts()
                if self._agree(row | found)
            ]
        for row, parts in partial:
            yield tuple(row[column] for column in self.group_by), coalesced(parts)

    def _agree(self, row: Row) -> bool:
        return all(row[a] == row[b] for a, b in self.joins if a in row and b in row)

    def shown(self) -> list[list[Any]]:
        """The output's aggregation set, as the golden data shows it."""
        groups = sorted(self.result.groups.items())
        return [[*key, *(t.value(*call) for call in self.calls)] for key, t in groups]


def aggregates(query: Mapping[str, Any]) -> list[str]:
    """The calls of a query, from its list of them or from its select list."""
    return query.get("aggregates") or [text for text in query["select"] if "(" in text]


def _input(
    stream: Mapping[str, Any],
    rows: Mapping[str, Any],
    query: Mapping[str, Any],
    calls: Sequence[tuple[str, str]],
    early: bool,
) -> Input:
    name = stream["name"]
    columns = [f"{name}.{column}" for column in stream["columns"]]
    lengths = {"until now": inf, "relation": inf}
    held = dict.fromkeys(a for _, a in calls if a in columns)
    joins = [column for pair in query["join"] for column in pair]
    grouping = early_aggregate(columns, query["group_by"], joins, ()).groups if early else None
    named = (dict(zip(columns, values, strict=True)) for values in rows[name])
    timed = [(row.get(f"{name}.ts", 0), row) for row in named if _selected(row, query)]
    return Input(timed, lengths.get(stream["window"], stream["window"]), list(held), grouping)


def _selected(row: Row, query: Mapping[str, Any]) -> bool:
    """Selections come before any aggregation."""
    return all(row.get(column, value) == value for column, _, value in query.get("where", []))
