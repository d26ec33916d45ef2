"""Rows that are pushed into a stream, for all runs that read it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.feed import Feed
from tidemill.connectors.feeds.pushed import PushedFeed
from tidemill.connectors.feeds.view import View
from tidemill.store import Store


@dataclass(frozen=True)
class Receipt:
    """Rows that were pushed, as slices of the feeds that have them."""

    rows: int
    slices: tuple[tuple[PushedFeed, int], ...]

    @property
    def is_taken(self) -> bool:
        """Whether ticks have read them, wherever they are read."""
        return not self.rows or all(feed.taken_before > n for feed, n in self.slices)


class Inbox:
    """Every run has a feed of its own, so that none takes rows away from another.

    Rows wait until the first run reads them. What a run leaves unread waits again,
    unless it is in a checkpoint, which knows it.

    >>> inbox = Inbox("s", Schema.of(at=pa.int64()))
    >>> inbox.push(pa.table({"at": [1, 2]})).rows
    2
    >>> one, two = inbox.open(), inbox.open()
    >>> inbox.push(pa.table({"at": [3]})).is_taken
    False
    >>> one.waiting(0), two.waiting(0), inbox.waiting
    (3, 1, 3)
    """

    def __init__(self, name: str, schema: Schema) -> None:
        self._name = name
        self._schema = schema
        self._lock = Condition()
        self._pushing = self._changing = 0
        self._waiting = PushedFeed(name, schema)
        self._readers: list[PushedFeed] = []

    def push(self, table: pa.Table) -> Receipt:
        """Add rows; the checkpoints of runs that read the stream have them when this returns."""
        with self._lock:
            self._lock.wait_for(lambda: not self._changing)
            feeds = tuple(self._readers or [self._waiting])
            self._pushing += 1
        try:
            # Many push at the same time, so that feeds can write their rows down together.
            return Receipt(table.num_rows, tuple((feed, feed.push(table)) for feed in feeds))
        finally:
            with self._lock:
                self._pushing -= 1
                self._lock.notify_all()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While readers come and go, nobody pushes."""
        with self._lock:
            self._changing += 1
            self._lock.wait_for(lambda: not self._pushing)
            try:
                yield
            finally:
                self._changing -= 1
                self._lock.notify_all()

    @property
    def waiting(self) -> int:
        """How many rows wait, where most do."""
        with self._lock:
            return max(feed.unread for feed in (*self._readers, self._waiting))

    def open(self, store: Store | None = None) -> PushedFeed:
        """A feed for a run, with the rows that wait behind those of its store."""
        with self._alone():
            feed = self._waiting
            if store is not None:
                feed.attach(store)
            feed.closed = lambda: self._close(feed, store is not None and not store.is_temporary)
            self._waiting = PushedFeed(self._name, self._schema)
            self._readers.append(feed)
            return feed

    def view(self) -> Feed:
        """What is there now, for a run that takes nothing away."""
        with self._lock:
            return View(self._readers[0] if self._readers else self._waiting)

    def _close(self, feed: PushedFeed, is_kept: bool) -> None:
        """A run has ended."""
        with self._alone():
            if feed not in self._readers:
                return
            self._readers.remove(feed)
            if not is_kept and not self._readers:
                feed.detach(feed.taken_before)
                self._waiting = feed
