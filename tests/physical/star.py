"""Star joins: on the operator, step by step, and as they are defined; with the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa

from tests.reference.shedding import Step, StreamRow, Version, run_shedding
from tidemill.algebra import (
    VERSION,
    Policy,
    Scan,
    Schema,
    Shedding,
    SourceKind,
    StarJoin,
    TimeWindow,
)
from tidemill.physical.operator import Operator
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.star import StarJoinExec
from tidemill.physical.operators.star.operator import importance_of, lots_of
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.reference import LogicalStream, evaluate
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

Values = tuple[Any, ...]
Rows = list[tuple[Values, int, int]]
"""Values, and from when to when they hold."""

Tick = tuple[list[Rows], list[int]]
"""The rows of all inputs, the relation last, and their watermarks."""

_BIGINT = pa.int64()


@dataclass(frozen=True)
class Case:
    """Rows (key, importance, name) of streams, and rows of a relation: keys and a name.

    Rows of the streams come with their instant and hold for the `life` of their stream.
    """

    streams: tuple[list[tuple[Values, int]], ...]
    lives: tuple[int, ...]
    relation: Rows
    shedding: Shedding
    changing: bool = True
    key: pa.DataType = _BIGINT

    @cached_property
    def plan(self) -> StarJoin:
        """The join as a logical plan."""
        columns = Schema.of(key=self.key, importance=pa.float64(), name=pa.string())
        scans = [Scan(f"s{n}", f"s{n}", columns) for n in range(len(self.streams))]
        keys = {f"k{n}": self.key for n in range(len(scans))}
        version = {VERSION: pa.int64()} if self.changing else {}
        kind = SourceKind.CHANGING if self.changing else SourceKind.CONSTANT
        facts = Scan("f", "f", Schema.of(**keys, fact=pa.string(), **version), kind)
        return StarJoin(
            tuple(TimeWindow(scan, life) for scan, life in zip(scans, self.lives, strict=True)),
            facts,
            tuple(scan.schema.names[:1] for scan in scans),
            tuple((name,) for name in facts.schema.names[: len(scans)]),
            replace(self.shedding, importances=tuple(scan.schema.names[1] for scan in scans)),
        )

    @cached_property
    def node(self) -> StarJoinExec:
        plan = self.plan
        leaves = [SourceExec(window.child) for window in plan.streams]  # type: ignore[attr-defined]
        return StarJoinExec(
            tuple(map(TimeWindowExec, leaves, self.lives)),
            SourceExec(plan.relation),  # type: ignore[arg-type]
            plan.stream_keys,
            plan.relation_keys,
            plan.shedding,
        )

    @cached_property
    def inputs(self) -> list[Rows]:
        """All rows that the operator takes; those of a relation that changes have numbers."""
        streams = [
            [(values, start, start + life) for values, start in rows]
            for rows, life in zip(self.streams, self.lives, strict=True)
        ]
        facts = [
            ((*values, number) if self.changing else values, start, end)
            for number, (values, start, end) in enumerate(self.relation)
        ]
        return [*streams, facts]

    def batch(self, number: int, rows: Rows) -> pl.DataFrame:
        """Rows of an input as the operator takes them."""
        fields = [(field.name, field.type) for field in self.node.children[number].schema]
        fields += [(VALID_FROM, pa.int64()), (VALID_TO, pa.int64())]
        columns = zip(*((*values, start, end) for values, start, end in rows), strict=True)
        filled = list(columns) or [()] * len(fields)
        arrays = [pa.array(column, kind) for column, (_, kind) in zip(filled, fields, strict=True)]
        return pl.DataFrame(pa.table(arrays, schema=pa.schema(fields)))

    @cached_property
    def steps(self) -> list[Step]:
        """The step-by-step run."""
        *streams, facts = self.inputs
        rows = [self._stream_rows(number, rows) for number, rows in enumerate(streams)]
        n = len(streams)
        versions = [
            Version(tuple((key,) for key in values[:n]), start, end, values[n])
            for values, start, end in facts
        ]
        return run_shedding(rows, versions, self.shedding)

    def _stream_rows(self, number: int, rows: Rows) -> list[StreamRow]:
        batch = self.batch(number, rows)
        lots = lots_of(batch, self.shedding.seed)
        weights = importance_of(batch, self.node.shedding.importances[number])
        return [
            StreamRow(start, end, values[:1], float(weight), values[2], int(lot))
            for (values, start, end), weight, lot in zip(rows, weights, lots, strict=True)
        ]

    @property
    def expected(self) -> Counter[Values]:
        """Its results: the names of their rows, and their validity."""
        return Counter(
            (*(row.row for row in result.rows), result.version.row, *result.validity)
            for step in self.steps
            for result in step.results
        )

    @property
    def unbounded(self) -> Case:
        """The same with enough memory."""
        return replace(self, shedding=replace(self.shedding, rows=10_000))

    def snapshots(self, horizon: int) -> LogicalStream:
        """The join as it is defined."""
        sources: dict[str, Any] = {}
        for number, rows in enumerate(self.streams):
            names = ("key", "importance", "name")
            sources[f"s{number}"] = [
                (dict(zip(names, values, strict=True)), start) for values, start in rows
            ]
        names = (*(f"k{number}" for number in range(len(self.streams))), "fact")
        facts = [(dict(zip(names, v, strict=True)), start, end) for v, start, end in self.relation]
        sources["f"] = facts if self.changing else [record for record, _, _ in facts]
        return evaluate(self.plan.exact, sources, horizon)

    @property
    def last(self) -> int:
        return max((start for rows in self.streams for _, start in rows), default=0)


def run(case: Case, operator: Operator, ticks: Iterator[Tick]) -> pl.DataFrame:
    """The results of an operator."""
    found = []
    for rows, marks in ticks:
        batches = [case.batch(number, part) for number, part in enumerate(rows)]
        result, mark = operator.step(batches, marks)
        assert result.columns == [*case.node.schema.names, VALID_FROM, VALID_TO]
        assert mark == min(marks[:-1])
        found.append(result)
    return pl.concat(found)


def named(case: Case, rows: pl.DataFrame) -> Counter[Values]:
    """Results in the form of `expected`."""
    streams = len(case.streams)
    names = [child.schema.names[2] for child in case.node.streams]
    fact = case.node.relation.schema.names[streams]
    return Counter(rows.select(*names, fact, VALID_FROM, VALID_TO).iter_rows())


def one_tick(case: Case) -> Iterator[Tick]:
    """All rows at once."""
    yield case.inputs, [OPEN_END] * len(case.inputs)


def every_instant(case: Case) -> Iterator[Tick]:
    """A tick for every instant; ends of versions come when they are due."""
    for t in range(case.last + 1):
        rows = [[row for row in rows if row[1] == t] for rows in case.inputs[:-1]]
        yield [*rows, _changes(case, t, t + 1)], [t + 1] * len(case.inputs)
    yield [[] for _ in case.inputs], [OPEN_END] * len(case.inputs)


def pieces(case: Case, random: Random) -> Iterator[Tick]:
    """Ticks of random length; rows are out of order, and some come before they are due."""
    cuts = sorted({0, *random.sample(range(1, case.last + 2), min(4, case.last + 1))})
    early = [
        [(row, random.choice([cut for cut in cuts if cut <= row[1]])) for row in rows]
        for rows in case.inputs[:-1]
    ]
    for cut, following in zip(cuts, [*cuts[1:], OPEN_END], strict=True):
        rows = [[row for row, at in part if at == cut] for part in early]
        for part in rows:
            random.shuffle(part)
        yield [*rows, _changes(case, cut, following)], [following] * len(case.inputs)


def _changes(case: Case, begin: int, end: int) -> Rows:
    """What happens to a relation in a piece of time: ends are not known before they come."""
    facts = case.inputs[-1]
    if not case.changing:
        return facts if begin == 0 else []
    begun = [(values, start, OPEN_END) for values, start, _ in facts if begin <= start < end]
    ended = [(values, stop, stop) for values, _, stop in facts if begin <= stop < end]
    return begun + ended


def random_case(random: Random, policy: Policy, streams: int, changing: bool) -> Case:
    """Few keys and instants, so that much happens at each; numbers that add up exactly."""
    last, keys = random.randint(3, 25), random.randint(1, 5)

    def row(stream: int) -> tuple[Values, int]:
        key = None if random.random() < 0.05 else random.randint(0, keys)
        importance = random.choice([None, 0.0, 1.0, 2.0, 2.0, 3.5])
        name = f"{stream}.{random.randint(0, 30)}"  # some rows are equal
        return (key, importance, name), random.randint(0, last)

    def version(number: int) -> tuple[Values, int, int]:
        values = [
            None if random.random() < 0.03 else random.randint(0, keys) for _ in range(streams)
        ]
        begin = random.choice([0, random.randint(0, last)]) if changing else 0
        end = begin + random.randint(1, 10) if changing and random.random() < 0.6 else OPEN_END
        return (*values, f"f{number}"), begin, end

    return Case(
        tuple([row(n) for _ in range(random.randint(0, 40))] for n in range(streams)),
        tuple(random.randint(1, 8) for _ in range(streams)),
        [version(number) for number in range(random.randint(0, 12))],
        Shedding(
            random.randint(0, 14),
            (None,) * streams,
            policy,
            alpha=random.choice([1.0, 2.0, 4.0]),
            beta=random.choice([0.0, 0.5, 1.0, 2.0]),
            seed=random.randint(0, 3),
        ),
        changing,
    )
