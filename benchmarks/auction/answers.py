"""Compare answers where the questions are the same, or meet at some instants.

Peers give times as the last column of their answers, except where the question is about plain rows.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from polars import selectors as cs

from tidemill.timeline import VALID_FROM, VALID_TO

_AT = "@"
_MINUTE = 60_000_000


def agree(form: str, ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether a peer gave the same answer to a form of a query, at all instants it speaks of."""
    return _COMPARED.get(form.partition("@")[0], _same_rows)(_plain(ours), _plain(theirs))


def same_answer(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether two answers of Tidemill are the same, validity included."""
    return _equal(_plain(ours), _plain(theirs))


def _same_rows(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    return _equal(ours.drop(VALID_FROM, VALID_TO), theirs)


def _same_rows_in_time(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether rows come at the same instants, as far as the peer has come.

    >>> ours = pl.DataFrame({"item": [7, 8], "valid_from": [5, 9], "valid_to": [6, 10]})
    >>> theirs = pl.DataFrame({"item": [7], "at": [5]})
    >>> _same_rows_in_time(ours, theirs), _same_rows_in_time(ours[1:], theirs)
    (True, False)
    """
    theirs = _timed(theirs)
    until = theirs[_AT].max()
    ours = ours.filter(pl.col(VALID_FROM) <= until).drop(VALID_TO)
    return _equal(ours, theirs)


def _same_at_hops(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether all rows at the ends of hops are the same.

    >>> hour = 60 * _MINUTE
    >>> ours = pl.DataFrame([{"item": 7, "bids": 2, "valid_from": 5, "valid_to": hour + 5}])
    >>> hops = pl.DataFrame([(7, 2, 10 * _MINUTE * n) for n in range(1, 7)], orient="row")
    >>> _same_at_hops(ours, hops), _same_at_hops(ours, hops[1:])
    (True, False)
    """
    theirs = _timed(theirs)
    return _equal(_at_ends(ours, 10, theirs), theirs)


def _one_at_hops(minutes: int) -> Callable[[pl.DataFrame, pl.DataFrame], bool]:
    """Whether the peer has, at the end of each hop, one of the rows that hold there."""

    def compare(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
        theirs = _timed(theirs)
        ends = _named(_at_ends(ours, minutes, theirs))
        named = _named(theirs)
        at = named.columns[-1]
        known = named.join(ends, on=named.columns, how="semi")
        times = named[at].unique(), ends[at].unique()
        return known.height == named.height and times[0].sort().equals(times[1].sort())

    return compare


def _same_when_they_come(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether every row of the peer, a key and a number, holds at its instant.

    >>> ours = pl.DataFrame([(7, 1, 5, 8), (7, 2, 8, 9)], orient="row")
    >>> ours.columns = ["item", "bids", "valid_from", "valid_to"]
    >>> theirs = pl.DataFrame({"item": [7, 7], "bids": [1, 2], "at": [5, 8]})
    >>> _same_when_they_come(ours, theirs), _same_when_they_come(ours[:1], theirs)
    (True, False)
    """
    key, number = ours.columns[:2]
    asked = theirs.rename(dict(zip(theirs.columns, (key, "theirs", _AT), strict=True)))
    found = asked.sort(_AT).join_asof(
        ours.sort(VALID_FROM), left_on=_AT, right_on=VALID_FROM, by=key, check_sortedness=False
    )
    holds = (pl.col("theirs") == pl.col(number)) & (pl.col(_AT) < pl.col(VALID_TO))
    return found.height > 0 and bool(found.select(holds.fill_null(False).all()).item())


def _at_ends(ours: pl.DataFrame, minutes: int, theirs: pl.DataFrame) -> pl.DataFrame:
    """The rows that hold at the last instant of each hop, just before its end."""
    hop = minutes * _MINUTE
    first, until = pl.col(VALID_FROM) // hop + 1, pl.col(VALID_TO) // hop + 1
    return (
        ours.with_columns(pl.int_ranges(first, until).alias(_AT))
        .drop(VALID_FROM, VALID_TO)
        .explode(_AT, empty_as_null=True)
        .drop_nulls(_AT)
        .with_columns(pl.col(_AT) * hop)
        .filter(pl.col(_AT) <= theirs[_AT].max())
    )


def _timed(theirs: pl.DataFrame) -> pl.DataFrame:
    return theirs.rename({theirs.columns[-1]: _AT})


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Times as microseconds, whatever they were."""
    return frame.with_columns(cs.temporal().dt.epoch("us"))


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns by their place; fractions to a millionth."""
    columns = [
        pl.nth(number).round(6) if dtype.is_float() else pl.nth(number)
        for number, dtype in enumerate(frame.dtypes)
    ]
    return frame.select(column.alias(f"c{number}") for number, column in enumerate(columns))


def _equal(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """The same rows, as often, in whatever order."""
    left, right = _named(left), _named(right)
    if left.width != right.width:
        return False
    # What is the same number may have another type; what is none is nothing.
    right = right.cast(left.schema, strict=False)
    return left.sort(left.columns).equals(right.sort(right.columns))


_COMPARED: dict[str, Callable[[pl.DataFrame, pl.DataFrame], bool]] = {
    "q4": _one_at_hops(1),
    "q5": _same_rows_in_time,
    "q6": _one_at_hops(10),
    "q7": _same_rows_in_time,
    "q8": _same_rows_in_time,
    "counts": _same_at_hops,
    "counts over": _same_when_they_come,
}
