"""The answer of one running query, as far as it is known."""

from __future__ import annotations

from pathlib import Path
from threading import RLock

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.engine.kept.log import RowLog
from tidemill.fragments.stages import EdgeExec
from tidemill.physical.changes import AT, consolidate, snapshot, to_changes
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.operator import empty_batch
from tidemill.results import in_order, user_table
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO, TimeDomain

_MOST_LOG = 4_000_000
"""Bytes of a log that is left alone however few rows it still stands for."""

_MOST_NEW = 5_000
"""New rows that wait, if nobody reads, to be put together with those before them."""


class KeptResults:
    """Rows with the time in which they hold: all of them from `kept_from` to `complete_until`.

    It is the sink of a query in the form `live`, and is told after a tick how far the answer is
    complete. Of rows that have ended, the newest are kept, so many that there are at most `rows`
    with those that still hold. With a `path`, they are on disk too, and there again when the query
    goes on after a crash.

    >>> kept = KeptResults(Schema.of(n=pa.int64()), None, rows=100)
    >>> kept.give(pl.DataFrame({"n": [7, 8], "valid_from": [1, 3], "valid_to": [3, 9]}), tick=0)
    >>> kept.complete(until=4)
    >>> kept.snapshot().to_pylist(), kept.snapshot(at=1).to_pylist()
    ([{'n': 8}], [{'n': 7}])
    """

    form = "live"

    def __init__(
        self, schema: Schema, domain: TimeDomain | None, rows: int, path: Path | None = None
    ) -> None:
        self.schema = schema
        """The columns of the answer, without its validity."""
        self.domain = domain
        self.complete_until = BEGIN
        self.kept_from = BEGIN
        self._most = rows
        self._tick = -1
        self._ended = self._open = self._new = empty_batch(schema)
        self._lock = RLock()
        self._log = None if path is None else RowLog(path)
        self._reload()

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Take the rows of a tick. A tick that comes again after a crash is known already."""
        with self._lock:
            if tick <= self._tick or not rows.height:
                return
            if self._log is not None:
                self._log.add((tick, rows, None))
            self._take(tick, rows)

    def complete(self, until: int) -> None:
        """Take note that all rows are there that start before an instant."""
        with self._lock:
            if until <= self.complete_until:
                return
            if self._log is not None:
                self._log.add((self._tick, None, until))
            self.complete_until = until
            if self._new.height > _MOST_NEW or self.rows > self._most:
                self._merge()

    def clear(self) -> None:
        """Forget everything: the query begins anew."""
        with self._lock:
            self._ended = self._open = self._new = empty_batch(self.schema)
            self.complete_until = self.kept_from = BEGIN
            self._tick = -1
            if self._log is not None:
                self._log.remove()

    @property
    def newest(self) -> int:
        """The last instant for which the answer is known; of one that is whole, when its last
        row comes."""
        with self._lock:
            if self.complete_until != OPEN_END:
                return max(BEGIN, self.complete_until - 1)
            latest = self._merged()[VALID_FROM].max()
            return latest if isinstance(latest, int) else BEGIN

    def snapshot(self, at: int | None = None) -> pa.Table:
        """The rows that hold at an instant, in the order of their values; now, if none is given."""
        with self._lock:
            return self._shown(snapshot(self._merged(), self.newest if at is None else at))

    def between(self, start: int, end: int) -> pa.Table:
        """The rows that hold at some instant of [start, end), with their intervals."""
        meets = (pl.col(VALID_FROM) < end) & (pl.col(VALID_TO) > start)
        with self._lock:
            return self._shown(self._merged().filter(meets), VALID_FROM, VALID_TO)

    def changes(self, since: int) -> pa.Table:
        """What came and went from an instant on, as far as the answer is complete."""
        with self._lock:
            known = self._merged().filter(pl.col(VALID_TO) >= since)
            log = consolidate(to_changes(known))
            within = (pl.col(AT) >= since) & (pl.col(AT) < self.complete_until)
            return user_table(log.filter(within), self.schema, self.domain, AT)

    @property
    def rows(self) -> int:
        """How many rows are kept."""
        return self._ended.height + self._open.height + self._new.height

    def _shown(self, rows: pl.DataFrame, *times: str) -> pa.Table:
        return user_table(in_order(rows, *times), self.schema, self.domain, *times)

    def _take(self, tick: int, rows: pl.DataFrame) -> None:
        self._tick = tick
        self._new = pl.concat([self._new, rows.select(self._new.columns)])

    def _merged(self) -> pl.DataFrame:
        """All rows; those that were cut at watermarks are whole again."""
        if self._new.height:
            self._merge()
        return pl.concat([self._ended, self._open])

    def _merge(self) -> None:
        """Put new rows behind those that they go on from; only ones that had not ended can."""
        growing = pl.concat([self._open, self._new])
        merged: pl.DataFrame = (
            CoalesceExec(EdgeExec(0, self.schema)).operator().step([growing], [OPEN_END])[0]
        )
        ended = pl.col(VALID_TO) < self.complete_until
        self._ended = pl.concat([self._ended, merged.filter(ended)])
        self._open, self._new = merged.filter(~ended), self._new.clear()
        self._drop_oldest()
        if self._log is not None and self._log.size > _MOST_LOG:
            self._shorten(self._log)

    def _drop_oldest(self) -> None:
        surplus = min(self.rows - self._most, self._ended.height)
        if surplus > 0:
            by_end = self._ended.sort(VALID_TO)
            gone, self._ended = by_end.head(surplus), by_end.tail(-surplus)
            self.kept_from = max(self.kept_from, int(gone[VALID_TO][-1]))

    def _shorten(self, log: RowLog) -> None:
        """Write down what is kept, in place of how it came about."""
        rows = pl.concat([self._ended, self._open])
        if log.size > 2 * rows.estimated_size():
            log.replace([(self._tick, rows, (self.kept_from, self.complete_until))])

    def _reload(self) -> None:
        for tick, rows, mark in () if self._log is None else self._log.entries():
            if rows is not None:
                self._take(tick, rows)
            if isinstance(mark, tuple):
                self.kept_from, self.complete_until = mark
            elif mark is not None:
                self.complete_until = mark
