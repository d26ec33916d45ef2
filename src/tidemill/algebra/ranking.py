"""Rankings: the first objects by a score that only rises while rows of theirs come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate, CountWindow, Project, SortKey, TimeWindow, TopK
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Field, Schema

CONFIDENCE = 1.0
"""How much of the largest value an approximate ranking expects where a value is certain to come.

All of it, as the text does. Values are smaller on average: with less confidence less is kept, and
more of the answer is missed.
"""


class Strategy(Enum):
    """How the first objects are found. All but the last one are exact."""

    EAA = "eaa"  # keep only instances of objects that can still be among the first
    SLA = "sla"  # keep all rows, in sorted lists, and look through these from the top
    APPROXIMATE = "approximate"  # as EAA, but expect of missing values only what is likely


@dataclass(frozen=True)
class Promise:
    """What a stream promises about the rows of an object.

    There are `most` of them: ever, or if `in_window` in any window of the query. `highs` are, call
    by call, the largest values that a row can bring; None if it brings none. If `most` is None,
    rows speak for themselves: an object needs no earlier row of its for the score that a later
    one gives it. This holds for the largest value of an object, for one.
    """

    most: int | None
    highs: tuple[float | None, ...]
    in_window: bool = False


@dataclass(frozen=True)
class Ranked:
    """Which objects are ranked, and how.

    An object is a value of the `keys`. Its rows in the window (the rows of the last `size`
    instants, or the last `rows` rows of all) give the `calls`: SUM, MAX and COUNT, of which the
    `items` are made, the columns of the result. The item `score` decides, the largest first; of
    equal ones the first in the order of the keys. No item before the last key is made of calls,
    except the score. A score never falls when a row comes. The column `stream` tells which stream
    a row is from, as the place of its promise in `streams`; None if there is one only. Only an
    approximate ranking has to do with the `confidence`: what is likely to come counts times it.
    """

    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    items: tuple[tuple[str, Scalar], ...]
    score: str
    limit: int
    size: int | None
    rows: int | None
    streams: tuple[Promise, ...]
    stream: str | None
    strategy: Strategy
    confidence: float = CONFIDENCE

    @property
    def order(self) -> SortKey:
        """What comes first; of equal rows, the first in the order of rows."""
        return SortKey(self.score, descending=True, nulls_first=False)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of rows that matter."""
        stream = () if self.stream is None else (self.stream,)
        return frozenset((*self.keys, *stream)).union(*(call.reads for call in self.calls))

    def __str__(self) -> str:
        window = f"range={self.size}" if self.rows is None else f"rows={self.rows}"
        by = f"by=[{', '.join(self.keys)}]"
        return f"{self.strategy.value} {by} score={self.score} limit={self.limit} {window}"


@dataclass(frozen=True)
class Ranking(Plan):
    """The first objects of every instant. Rows of the child hold for their instant."""

    child: Plan
    ranked: Ranked

    @cached_property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, scalar.type) for name, scalar in self.ranked.items))

    def details(self) -> str:
        return str(self.ranked)

    @cached_property
    def window(self) -> Plan:
        """The rows that count."""
        if self.ranked.rows is None:
            return TimeWindow(self.child, self.ranked.size)
        return CountWindow(self.child, self.ranked.rows)

    @cached_property
    def exact(self) -> Plan:
        """What is asked, in ordinary operators."""
        ranked = self.ranked
        objects = Project(Aggregate(self.window, ranked.keys, ranked.calls), ranked.items)
        return TopK(objects, (ranked.order,), ranked.limit)
