"""The answer of one running query, as far as it is known."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks import in_order, user_table
from tidemill.engine.kept.log import KeptEntry
from tidemill.physical.mechanisms.changes import AT, consolidate, snapshot, to_changes
from tidemill.physical.operator import empty_batch
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.stages.stages import ReceiveExec
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO, TimeDomain

Note = Callable[[KeptEntry, pl.DataFrame | None], None]
"""Takes note of what is new."""

_MOST_NEW = 5_000
"""How many new rows wait for a reader before they are merged with the older ones."""


class KeptResults:
    """Rows with the time in which they hold: all of them from `kept_from` to `complete_until`.

    It is the sink of a query in the form `live`, and learns after a tick how far the answer is
    complete. Of rows that have ended, only the newest are kept: there are at most `rows`
    with those that still hold. What is new is passed to `note`, which keeps it for a restart.

    >>> kept = KeptResults(Schema.of(n=pa.int64()), None, rows=100)
    >>> kept.give(pl.DataFrame({"n": [7, 8], "valid_from": [1, 3], "valid_to": [3, 9]}), tick=0)
    >>> kept.complete(until=4)
    >>> kept.snapshot().to_pylist(), kept.snapshot(at=1).to_pylist()
    ([{'n': 8}], [{'n': 7}])
    """

    form = "live"

    def __init__(
        self,
        schema: Schema,
        domain: TimeDomain | None,
        rows: int,
        note: Note = lambda entry, rows: None,
        order: tuple[SortKey, ...] = (),
    ) -> None:
        self.schema = schema
        """The columns of the answer, without its validity."""
        self.order = order
        """That in which the rows of an instant are shown."""
        self.domain = domain
        self.complete_until = BEGIN
        self.kept_from = BEGIN
        self.tick = -1
        """The last tick that has given rows."""
        self.given = 0
        """How many rows it was given, with those that are not kept any more."""
        self._most = rows
        self._ended = self._open = self._new = empty_batch(schema)
        self._lock = RLock()
        self._note = note

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Take the rows of a tick. A tick that comes again after a crash is known already."""
        with self._lock:
            if tick <= self.tick or not rows.height:
                return
            self._take(tick, rows)
            self._note(KeptEntry(tick, given=self.given), rows)

    def complete(self, until: int) -> None:
        """Take note that all rows are there that start before an instant."""
        with self._lock:
            if until <= self.complete_until:
                return
            self.complete_until = until
            self._note(KeptEntry(self.tick, until=until, given=self.given), None)
            if self._new.height > _MOST_NEW or self.rows > self._most:
                self._merge()

    def clear(self) -> None:
        """Forget everything: the query begins anew."""
        with self._lock:
            self._clear()
            self._note(KeptEntry(-1, anew=True), None)

    def restore(self, entry: KeptEntry, rows: pl.DataFrame | None) -> None:
        """Take what was noted before a restart."""
        with self._lock:
            if entry.anew:
                self._clear()
            if rows is not None:
                self._take(entry.tick, rows)
            self.tick, self.given = entry.tick, entry.given
            self.complete_until = self.complete_until if entry.until is None else entry.until
            self.kept_from = self.kept_from if entry.kept_from is None else entry.kept_from

    def whole(self) -> tuple[KeptEntry, pl.DataFrame]:
        """Everything, in place of how it came about."""
        with self._lock:
            rows = self._merged()
            until, kept_from = self.complete_until, self.kept_from
            return KeptEntry(self.tick, True, until, kept_from, self.given), rows

    def _clear(self) -> None:
        self._ended = self._open = self._new = empty_batch(self.schema)
        self.complete_until = self.kept_from = BEGIN
        self.tick, self.given = -1, 0

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
        """The rows that hold at an instant, in order; now, if none is given."""
        with self._lock:
            return self._shown(snapshot(self._merged(), self.newest if at is None else at))

    def _repr_html_(self) -> str:
        from tidemill.notebook.queries import kept_html

        return kept_html(self.snapshot(), self.complete_until, self.domain)

    def holding(self, at: int) -> pa.Table:
        """The rows that hold at an instant, in order, with their intervals."""
        rows = in_order(self._meeting(at, at + 1), order=self.order)
        return user_table(rows, self.schema, self.domain, VALID_FROM, VALID_TO)

    def between(self, start: int, end: int) -> pa.Table:
        """The rows that hold at some instant of [start, end), with their intervals."""
        return self._shown(self._meeting(start, end), VALID_FROM, VALID_TO)

    def _meeting(self, start: int, end: int) -> pl.DataFrame:
        meets = (pl.col(VALID_FROM) < end) & (pl.col(VALID_TO) > start)
        with self._lock:
            return self._merged().filter(meets)

    def changes(self, since: int) -> pa.Table:
        """What came and went since an instant, as far as the answer is complete."""
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
        ordered = in_order(rows, *times, order=self.order)
        return user_table(ordered, self.schema, self.domain, *times)

    def _take(self, tick: int, rows: pl.DataFrame) -> None:
        self.tick = tick
        self.given += rows.height
        self._new = pl.concat([self._new, rows.select(self._new.columns)])

    def _merged(self) -> pl.DataFrame:
        """All rows; those that were cut at watermarks are whole again."""
        if self._new.height:
            self._merge()
        return pl.concat([self._ended, self._open])

    def _merge(self) -> None:
        """Put new rows after those that they continue; rows that had ended stay as they are."""
        growing = pl.concat([self._open, self._new])
        merged: pl.DataFrame = (
            CoalesceExec(ReceiveExec(0, self.schema)).operator().step([growing], [OPEN_END])[0]
        )
        ended = pl.col(VALID_TO) < self.complete_until
        self._ended = pl.concat([self._ended, merged.filter(ended)])
        self._open, self._new = merged.filter(~ended), self._new.clear()
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        surplus = min(self.rows - self._most, self._ended.height)
        if surplus > 0:
            by_end = self._ended.sort(VALID_TO)
            gone, self._ended = by_end.head(surplus), by_end.tail(-surplus)
            self.kept_from = max(self.kept_from, int(gone[VALID_TO][-1]))
