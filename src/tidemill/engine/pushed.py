"""Rows that users push into a stream, for all runs that read it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import RLock

import pyarrow as pa

from tidemill.algebra import Schema
from tidemill.feeds import Feed, PushedFeed, View
from tidemill.store import Store


class Pushed:
    """Every run that reads the stream gets all rows; while there is none, they wait for one.

    >>> pushed = Pushed("s", Schema.of(at=pa.int64()))
    >>> pushed.push(pa.table({"at": [1, 2]}))
    >>> feed = pushed.open(None)
    >>> pushed.push(pa.table({"at": [3]}))
    >>> pushed.waiting, feed.poll()
    (3, 2)
    """

    def __init__(self, name: str, schema: Schema) -> None:
        self._name = name
        self._schema = schema
        self._lock = RLock()
        self._readers: list[PushedFeed] = []
        self._waiting = PushedFeed(name, schema)

    def push(self, table: pa.Table) -> None:
        """Give rows to everyone; a run with a store has them there when this returns."""
        with self._lock:
            for feed in self._feeds:
                feed.push(table)

    def open(self, store: Store | None) -> PushedFeed:
        """What a run reads from now on: first what has waited, if no other run took that."""
        with self._lock:
            feed = PushedFeed(self._name, self._schema, store)
            if not self._readers:
                feed.take_over(self._waiting.rest())
                self._waiting = PushedFeed(self._name, self._schema)
            self._readers.append(feed)
            feed.closed = partial(self._left, feed)
            return feed

    def view(self) -> Feed:
        """What waits to be read; whoever looks at it takes nothing away."""
        with self._lock:
            return View(self._feeds[0])

    def taken(self) -> Callable[[], bool]:
        """How to find out whether all runs have read what has been pushed by now."""
        with self._lock:
            ends = [(feed, feed.poll()) for feed in self._readers]
        return lambda: all(feed.position >= end for feed, end in ends)

    @property
    def waiting(self) -> int:
        """How many rows wait to be read."""
        with self._lock:
            return max(feed.waiting(feed.position) for feed in self._feeds)

    @property
    def _feeds(self) -> list[PushedFeed]:
        return self._readers or [self._waiting]

    def _left(self, feed: PushedFeed) -> None:
        """A run has ended. What it has not read waits in its store, or for the next one."""
        with self._lock:
            if feed in self._readers:
                self._readers.remove(feed)
                if not self._readers and not feed.lasts:
                    self._waiting.take_over(feed.rest())
