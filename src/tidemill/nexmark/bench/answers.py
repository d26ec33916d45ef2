"""Compare answers where the questions are the same, or meet at some instants."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from tidemill.nexmark.bench.measure import same_rows
from tidemill.timeline import VALID_FROM, VALID_TO

_HOP = pl.duration(minutes=10)
_INSTANT = pl.duration(microseconds=1)


def agree(query: str, ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether a peer gave the same answer, at all instants at which it answers."""
    if query == "counts":
        return _hops_agree(ours, theirs)
    return same_rows(ours.drop(VALID_FROM, VALID_TO), theirs)


def _hops_agree(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    """Whether counts at the ends of hops are the same.

    A hop [begin, end) has the bids that are valid at its last instant, just before its end.
    """
    theirs = theirs.rename(dict(zip(theirs.columns, ("item", "bids", "at"), strict=True)))
    last: datetime = theirs.select(pl.col("at").max()).item()
    ends = ours.select(
        pl.datetime_range(
            pl.col(VALID_FROM).min().dt.truncate("10m"), pl.lit(last), "10m", time_unit="us"
        ).alias("at")
    )
    at_ends = ours.join_where(
        ends,
        pl.col(VALID_FROM) <= pl.col("at") - _INSTANT,
        pl.col(VALID_TO) > pl.col("at") - _INSTANT,
    )
    wanted = ("item", "bids", "at")
    numbers = [pl.col("at").cast(pl.Datetime("us")).cast(pl.Int64)]
    return same_rows(
        at_ends.select(wanted).with_columns(numbers), theirs.select(wanted).with_columns(numbers)
    )
