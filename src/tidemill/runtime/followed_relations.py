"""Relations that change, as a run of a query follows them: what every tick sees of them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.connectors.change_source import INSTANT, ChangeSource
from tidemill.errors import ExecutionError, TidemillError
from tidemill.runtime.change_log import ChangeLog, ChangeOffset
from tidemill.runtime.relations import Follower
from tidemill.runtime.versions import RelationVersions
from tidemill.store import Store
from tidemill.timeline import OPEN_END


class FollowedRelations:
    """One relation in one run: where it was left, and what has changed since.

    The changes that a tick sees, and their instants, are written down before the tick runs.
    """

    def __init__(
        self, store: Store | None, name: str, schema: Schema, source: ChangeSource
    ) -> None:
        self._name = name
        self._schema = schema
        self._source = source
        self._log = None if store is None else ChangeLog(store, name, schema)
        self._last = ChangeOffset() if self._log is None else self._log.place
        self._versions = RelationVersions(schema)
        self._before: pl.DataFrame | None = None
        self._unwritten: pl.DataFrame | None = None
        self._lock = Lock()
        self._seen: list[pa.Table] = []
        self._position = self._last.position
        self._is_up_to_date = False
        self._is_failing = False
        self.changes = 0

    @property
    def held(self) -> int:
        """How many rows are there now."""
        return len(self._versions)

    @property
    def missing(self) -> int:
        """How many rows were deleted that were not there."""
        return self._versions.missing

    def listen(self, wake: Callable[[], None]) -> None:
        """Ask to be told of changes, if what makes them can do that."""
        if isinstance(self._source, Follower):
            self._source.wake = wake

    def close(self) -> None:
        """Follow no more."""
        if isinstance(self._source, Follower):
            self._source.close()

    @property
    def open(self) -> pl.DataFrame:
        """The versions that are there, for a reader that has seen nothing of them."""
        return self._versions.open if self._before is None else self._before

    def go_on(self, tick: int) -> bool:
        """Come to where the tick before this one was; whether there was one that saw rows."""
        with self._lock:
            if not self._is_up_to_date:
                self._go_on(tick)
            elif self._log is not None and tick == self._log.place.tick:
                # It saw its changes, and then could not begin: the disk was full.
                self._before = self._log.open(before_last=True)
            is_first = self._before is not None and self._log is not None and self._log.is_new
            return self._last.tick >= 0 and not is_first

    def take(self, tick: int, earliest: int) -> pl.DataFrame:
        """The versions that a tick sees; changes count from an instant on, at the earliest."""
        with self._lock:
            # (The log: a tick that saw nothing is not in it, and is done again, too.)
            if self._log is not None and tick == self._log.place.tick:
                self._before = None
                return self._log.rows()
            if self._log is not None and self._log.is_long:
                self._log.store(self._versions.open)  # of ticks that will not be done again
            if self._unwritten is None:
                self._unwritten = self._first() if self._last.tick < 0 else self._next(earliest)
            rows, place = (
                self._unwritten,
                ChangeOffset(tick, self._position, self._versions.next_id),
            )
            if self._log is not None:
                self._log.write(rows, place)  # which may find the disk full
            self._last, self._unwritten = place, None
            return rows

    def forget(self) -> None:
        """Let go of everything that was kept."""
        self.close()
        if self._log is not None:
            self._log.forget()

    def look(self) -> bool:
        """Between two ticks: whether there are changes that the next one should see."""
        with self._lock:
            if not self._is_up_to_date or self._is_failing:
                return False
            try:
                self._poll()
            except TidemillError:
                self._is_failing = True  # the tick will fail for the same reason, and tell
            return self._is_failing or bool(self._seen)

    def _go_on(self, tick: int) -> None:
        """Come to where the last tick was, which may be done again now."""
        if self._log is not None and self._last.tick >= 0:
            if tick < self._last.tick:
                raise ExecutionError(
                    f"what tick {self._last.tick} saw of `{self._name}` is in the checkpoint, but "
                    f"tick {tick} comes now: ticks were lost",
                    help="`tidemill verify` and `tidemill repair` say more",
                )
            self._versions = RelationVersions(self._schema, self._last.next_id)
            self._versions.restore(self._log.open())
            if tick == self._last.tick:
                # It saw its changes, and then did not begin: whoever is new sees both again.
                self._before = self._log.open(before_last=True)
            if isinstance(self._source, Follower):
                # What the engine keeps has begun anew since: only the rows themselves can tell.
                self._note(self._source.changes_since(self._versions.open))
        self._is_up_to_date = True

    def _first(self) -> pl.DataFrame:
        rows, self._position = self._source.content()
        return self._versions.begin(pl.DataFrame(rows))

    def _next(self, earliest: int) -> pl.DataFrame:
        self._poll()
        seen, self._seen = self._seen, []
        if not seen:
            return self._nothing
        changes = pl.concat([pl.DataFrame(table) for table in seen])
        self.changes += changes.height
        at = pl.col(INSTANT).fill_null(earliest).clip(earliest, OPEN_END - 2)
        return self._versions.take(changes.with_columns(at))

    @property
    def _nothing(self) -> pl.DataFrame:
        return self._versions.open.clear()

    def _poll(self) -> None:
        changes, self._position = self._source.changes(self._position)
        self._is_failing = False
        self._note(changes)

    def _note(self, changes: pa.Table) -> None:
        if changes.num_rows:
            self._seen.append(changes)
