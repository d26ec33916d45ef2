"""Compare answers where the questions are the same, or meet at some instants."""

from __future__ import annotations

import polars as pl

from tidemill.nexmark.bench.measure import same_rows
from tidemill.timeline import VALID_FROM, VALID_TO

_HOP = 600_000_000


def agree(query: str, ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether a peer gave the same answer, at all instants at which it answers."""
    if query == "counts":
        return _hops_agree(ours, theirs)
    return same_rows(ours.drop(VALID_FROM, VALID_TO), theirs)


def _hops_agree(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether counts at the ends of hops are the same.

    A hop [begin, end) has the bids that are valid at its last instant, just before its end.

    >>> row = {"item": 7, "bids": 2, "valid_from": 5, "valid_to": 3_600_000_005}
    >>> ours = pl.DataFrame([row])
    >>> hops = pl.DataFrame([(7, 2, number * 600_000_000) for number in range(1, 7)], orient="row")
    >>> _hops_agree(ours, hops), _hops_agree(ours, hops[1:])
    (True, False)
    """
    theirs = theirs.rename(dict(zip(theirs.columns, ("item", "bids", "at"), strict=True)))
    theirs = theirs.with_columns(_microseconds("at"))
    last = theirs["at"].max()
    first_after = _microseconds(VALID_FROM) // _HOP + 1
    until = _microseconds(VALID_TO) // _HOP + 1
    at_ends = (
        ours.with_columns(pl.int_ranges(first_after, until).alias("at"))
        .explode("at")
        .drop_nulls("at")
        .with_columns(pl.col("at") * _HOP)
        .filter(pl.col("at") <= last)
    )
    wanted = ("item", "bids", "at")
    return same_rows(at_ends.select(wanted), theirs.select(wanted))


def _microseconds(name: str) -> pl.Expr:
    return pl.col(name).to_physical().cast(pl.Int64)
