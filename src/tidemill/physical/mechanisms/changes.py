"""Results in other forms: intervals as changes, and what holds now."""

from __future__ import annotations

import polars as pl

from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

AT, CHANGE = "changed_at", "change"
INSERT, DELETE = "+", "-"


def to_changes(batch: pl.DataFrame) -> pl.DataFrame:
    """A row comes when it starts to hold and goes when it ends; an open end never comes.

    >>> rows = pl.DataFrame({"v": ["a"], "valid_from": [1], "valid_to": [5]})
    >>> to_changes(rows).rows()
    [('a', 1, '+'), ('a', 5, '-')]
    """
    rows = batch.drop(VALID_FROM, VALID_TO).columns
    come = batch.select(*rows, pl.col(VALID_FROM).alias(AT), pl.lit(INSERT).alias(CHANGE))
    ended = batch.filter(pl.col(VALID_TO) != OPEN_END)
    gone = ended.select(*rows, pl.col(VALID_TO).alias(AT), pl.lit(DELETE).alias(CHANGE))
    return pl.concat([come, gone]).sort(AT, maintain_order=True)


def consolidate(changes: pl.DataFrame) -> pl.DataFrame:
    """Leave out what comes and goes at the same instant; what goes is listed before what comes.

    Otherwise rows are in the order of their values, so that equal logs look equal.

    >>> touching = pl.DataFrame({"v": ["a", "a"], "valid_from": [1, 5], "valid_to": [5, 9]})
    >>> consolidate(to_changes(touching)).rows()
    [('a', 1, '+'), ('a', 9, '-')]
    """
    rows = changes.drop(AT, CHANGE).columns
    sign = pl.when(pl.col(CHANGE) == INSERT).then(1).otherwise(-1)
    net = changes.group_by(AT, *rows, maintain_order=True).agg(sign.sum().alias("#net"))
    copies = net.filter(pl.col("#net") != 0).with_columns(
        pl.when(pl.col("#net") > 0).then(pl.lit(INSERT)).otherwise(pl.lit(DELETE)).alias(CHANGE),
        pl.col("#net").abs().alias("#copies"),
    )
    repeated = copies.select(pl.exclude("#copies", "#net").repeat_by("#copies").explode())
    values = [name for name in rows if not changes.schema[name].is_nested()]
    falling = [False, True, *(False for _ in values)]
    ordered = repeated.sort(AT, CHANGE, *values, descending=falling, maintain_order=True)
    return ordered.select(*rows, AT, CHANGE)


def snapshot(batch: pl.DataFrame, at: int) -> pl.DataFrame:
    """The rows that hold at an instant."""
    holds = (pl.col(VALID_FROM) <= at) & (pl.col(VALID_TO) > at)
    return batch.filter(holds).drop(VALID_FROM, VALID_TO)
