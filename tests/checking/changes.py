"""A log of changes as intervals again."""

from __future__ import annotations

import polars as pl

from tidemill.physical.mechanisms.changes import AT, CHANGE, INSERT
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO


def from_changes(changes: pl.DataFrame) -> pl.DataFrame:
    """The intervals between coming and going; the copy that came last goes first.

    >>> changes = pl.DataFrame({"v": ["a", "a"], "changed_at": [1, 5], "change": ["+", "-"]})
    >>> from_changes(changes).rows()
    [('a', 1, 5)]
    """
    rows = changes.drop(AT, CHANGE).columns
    open_since: dict[tuple[object, ...], list[int]] = {}
    done: list[tuple[object, ...]] = []
    ordered = changes.select(*rows, AT, CHANGE).sort(AT, maintain_order=True)
    for *row, at, change in ordered.iter_rows():
        key = tuple(map(str, row))
        if change == INSERT:
            open_since.setdefault(key, []).append(len(done))
            done.append((*row, at, OPEN_END))
        else:
            number = open_since[key].pop()
            done[number] = (*done[number][:-1], at)
    schema = pl.Schema(
        {**changes.select(rows).schema, VALID_FROM: pl.Int64(), VALID_TO: pl.Int64()}
    )
    kept = [row for row in done if row[-2] != row[-1]]
    return pl.DataFrame(kept, schema=schema, orient="row")
