"""Rule 1: the early aggregate of one input of a join, from the columns that the input holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tidemill.algebra.aggregates import AggregateCall

# Functions of a whole group that follow from those of its parts, each weighed by its rows.
COALESCING = frozenset({"SUM", "COUNT", "AVG", "MIN", "MAX"})


@dataclass(frozen=True, order=True)
class Partial:
    """A function that an early aggregate computes; without an argument it counts rows.

    >>> print(Partial("SUM", "bid.price"), Partial("COUNT"))
    SUM(bid.price) COUNT(*)
    """

    function: str
    argument: str | None = None

    def __str__(self) -> str:
        return f"{self.function}({self.argument or '*'})"


ROWS = Partial("COUNT")

_T = TypeVar("_T")


@dataclass(frozen=True)
class EarlyAggregate:
    """What an early aggregate groups by and computes."""

    groups: tuple[str, ...]
    partials: tuple[Partial, ...]


def coalesces(call: AggregateCall) -> bool:
    """Whether a call can be computed from partial results.

    Distinct values would have to be told apart across groups; minima and maxima need not.
    """
    if call.user is not None or call.function not in COALESCING:
        return False
    return not call.distinct or call.function in ("MIN", "MAX")


def literal_rule(
    columns: Collection[str],
    groups: Sequence[str],
    joins: Sequence[str],
    calls: Sequence[AggregateCall],
) -> EarlyAggregate:
    """The rule as the text states it: rows are counted unless the input holds all arguments.

    `columns` are columns of the input, the rest belongs to the query.
    """
    held = _unique(Partial(c.function, c.argument) for c in calls if c.argument in columns)
    every = bool(held) and all(c.argument in columns for c in calls)
    grouping = [column for column in (*groups, *joins) if column in columns]
    return EarlyAggregate(_unique(grouping), held if every else _unique((*held, ROWS)))


def early_aggregate(
    columns: Collection[str],
    groups: Sequence[str],
    joins: Sequence[str],
    calls: Sequence[AggregateCall],
) -> EarlyAggregate:
    """The rule as we use it: rows are always counted, and an average is a sum and a count.

    The count weighs what the other inputs hold, tells an empty group from one whose sum is 0, and
    is the state of an aggregate in any case. An average leaves out NULLs, so it counts values.

    >>> import pyarrow as pa
    >>> average = AggregateCall("mean", "AVG", "b.price", pa.float64())
    >>> early = early_aggregate(["b.item", "b.price"], ["a.kind"], ["a.item", "b.item"], [average])
    >>> print(*early.groups, *early.partials)
    b.item SUM(b.price) COUNT(b.price) COUNT(*)
    """
    literal = literal_rule(columns, groups, joins, calls)
    split = (part for partial in literal.partials for part in _parts(partial))
    return EarlyAggregate(literal.groups, _unique((*split, ROWS)))


def _parts(partial: Partial) -> tuple[Partial, ...]:
    if partial.function != "AVG":
        return (partial,)
    return Partial("SUM", partial.argument), Partial("COUNT", partial.argument)


def _unique(items: Iterable[_T]) -> tuple[_T, ...]:
    """Each item once, where it came first; the count of rows last."""
    found = dict.fromkeys(items)
    return (*(i for i in found if i != ROWS), *(i for i in found if i == ROWS))
