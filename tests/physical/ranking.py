"""Rankings to test: rows of several streams, promises, scores, and ticks to run them in."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
from sqlglot import exp, parse_one

from tidemill.algebra import AggregateCall, Scalar, Scan, Schema, column
from tidemill.algebra.ranking import Promise, Ranked, Ranking, Strategy
from tidemill.algebra.scalar import column_node
from tidemill.expressions import UserFunction
from tidemill.physical.operator import Operator, empty_batch, with_validity
from tidemill.physical.operators.ranking import RankExec
from tidemill.physical.operators.source import SourceExec
from tidemill.reference import LogicalStream, evaluate
from tidemill.timeline import OPEN_END

Row = tuple[int, dict[str, Any]]
"""A time and the values of a row: the object, the stream and its value."""

Tick = tuple[Sequence[Row], int]
"""Rows that come, and the watermark behind them."""


def scalar(text: str, type: pa.DataType) -> Scalar:
    """An expression over the columns of the plan."""
    tree = parse_one(text, dialect="spark").transform(
        lambda node: column_node(node.name) if isinstance(node, exp.Column) else node
    )
    return Scalar(tree, type)


@dataclass(frozen=True)
class Case:
    """A ranking with its rows, in the order of time.

    A `score` that is a name of SCORES has a column for every stream: an attribute.
    """

    rows: Sequence[Row]
    limit: int
    streams: int = 3
    size: int | None = None
    count: int | None = None
    most: int | None = 1
    in_window: bool = False
    score: str = "sum"
    weights: Sequence[float] = (0.5, 0.3, 0.2)
    high: float = 1.0
    value: pa.DataType = field(default_factory=pa.float64)
    keys: Sequence[tuple[str, pa.DataType]] = (("id", pa.string()),)
    functions: tuple[UserFunction, ...] = ()
    strategy: Strategy = Strategy.EAA

    @property
    def attributes(self) -> list[str]:
        return [f"v{number}" for number in range(self.streams)]

    @property
    def scan(self) -> Scan:
        types = dict.fromkeys(self.attributes, self.value)
        fields = dict(self.keys) | {"stream": pa.int64(), "value": self.value} | types
        return Scan("s", "s", Schema.of(**fields))

    @property
    def ranked(self) -> Ranked:
        calls, highs, text = self._calls()
        whole = pa.types.is_integer(self.value) and self.score in ("sum", "max")
        whole = whole or self.score == "count"
        type = pa.int64() if whole else pa.float64()
        keys = tuple(f"s.{name}" for name, _ in self.keys)
        items = [(name, column(f"s.{name}", of)) for name, of in self.keys]
        streams = tuple(
            Promise(self.most, tuple(h), self.in_window) for h in zip(*highs, strict=True)
        )
        return Ranked(
            keys=keys,
            calls=tuple(calls),
            items=(*items, ("score", scalar(text, type))),
            score="score",
            limit=self.limit,
            size=self.size,
            rows=self.count,
            streams=streams,
            stream="s.stream",
            strategy=self.strategy,
        )

    def _calls(self) -> tuple[list[AggregateCall], list[list[float | None]], str]:
        """The calls, the highest values call by call and stream, and the score of them."""
        type = pa.int64() if pa.types.is_integer(self.value) else pa.float64()
        if self.score in ("sum", "max"):
            call = AggregateCall("a", self.score.upper(), "s.value", type)
            return [call], [[self.high] * self.streams], "a"
        if self.score == "count":
            return [AggregateCall("a", "COUNT", "s.value", pa.int64())], [[1.0] * self.streams], "a"
        calls = [AggregateCall(f"a{n}", "SUM", f"s.v{n}", type) for n in range(self.streams)]
        highs = [
            [self.high if n == stream else None for stream in range(self.streams)]
            for n in range(self.streams)
        ]
        values = [f"COALESCE(a{n}, 0.0)" for n in range(self.streams)]
        texts = {
            "weighted": " + ".join(
                f"{w}e0 * {v}" for w, v in zip(self.weights, values, strict=False)
            ),
            "min": f"LEAST({', '.join(values)})" if len(values) > 1 else values[0],
            "product": " * ".join(values),
            "difference": " - ".join(values),
            "user": f"score_of({', '.join(values)})",
        }
        return calls, highs, texts[self.score]

    @property
    def node(self) -> RankExec:
        return RankExec(SourceExec(self.scan), self.ranked, self.functions, eager=True)

    def batch(self, rows: Sequence[Row]) -> pl.DataFrame:
        """Rows as they come to the operator."""
        records = [{f"s.{name}": value for name, value in self.full(v).items()} for _, v in rows]
        table = pa.Table.from_pylist(records, self.scan.schema.to_arrow())
        time = pl.Series([time for time, _ in rows], dtype=pl.Int64).to_numpy()
        return with_validity(pl.DataFrame(table), time, time + 1)

    def full(self, values: dict[str, Any]) -> dict[str, Any]:
        """A row with its value also as the attribute of its stream."""
        own = values["stream"]
        attributes = {
            n: values["value"] if at == own else None for at, n in enumerate(self.attributes)
        }
        return values | attributes

    @property
    def expected(self) -> LogicalStream:
        """The snapshots of the reference."""
        horizon = max((time for time, _ in self.rows), default=0) + (self.size or 0) + 6
        functions = {function.name: function for function in self.functions}
        data = {"s": [(self.full(values), time) for time, values in self.rows]}
        return evaluate(Ranking(self.scan, self.ranked).exact, data, horizon, functions)


def run(case: Case, operator: Operator, ticks: Iterable[Tick]) -> pl.DataFrame:
    """All that an operator puts out."""
    found = [empty_batch(case.node.schema)]
    for rows, watermark in ticks:
        found.append(operator.step([case.batch(rows)], [watermark])[0])
    return pl.concat(found)


def at_once(case: Case) -> Iterator[Tick]:
    """Everything in one tick."""
    yield case.rows, OPEN_END


def one_by_one(case: Case) -> Iterator[Tick]:
    """A tick for every row; an instant is over when a later row has come."""
    for row in case.rows:
        yield [row], row[0]
    yield [], OPEN_END


def in_pieces(case: Case, random: Random, slack: int = 0) -> Iterator[Tick]:
    """Ticks of some rows, which may come later by the slack, and some of none."""
    delayed = [(row[0] + random.uniform(0, slack), row) for row in case.rows]
    rows = [row for _, row in sorted(delayed, key=lambda each: each[0])]
    now = 0
    while rows:
        size = random.choice([0, 1, 2, 3, 7])
        piece, rows = rows[:size], rows[size:]
        now = max([now, *(time - slack for time, _ in piece)])
        yield piece, now
    yield [], now + random.randint(0, 3)
    yield [], OPEN_END


def copied(operator: Any) -> Any:
    """The operator after its state was written and read."""
    return pickle.loads(pickle.dumps(operator))
