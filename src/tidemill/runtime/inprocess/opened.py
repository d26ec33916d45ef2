"""The sources that a running graph has opened, and how far it has come with each."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.errors import CatalogError, ExecutionError, UnsupportedError
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.inprocess.feeds import Feed, GoneFeed, StreamFeed

Key = str | SourceExec
"""A stream by its name, or a relation by the leaf that reads it."""

Read = tuple[pl.DataFrame, pl.Series, pl.Series]
"""Rows, and when they start and end to hold."""


class Opened:
    """Streams are opened when they are first needed, and read from then on.

    Relations are read anew for every leaf.
    """

    def __init__(self, open_source: Callable[[str], Feed]) -> None:
        self._open = open_source
        self._feeds: dict[Key, Feed] = {}
        self._held: dict[Key, Read] = {}
        self._restoring = False

    @property
    def streams(self) -> dict[str, StreamFeed]:
        """The streams that are being read, by name."""
        feeds = self._feeds.items()
        return {str(k): feed for k, feed in feeds if isinstance(feed, StreamFeed)}

    @property
    def has_more(self) -> bool:
        """Whether rows wait to be read, or the end of a stream to be noticed."""
        return any(feed.has_more for feed in self._feeds.values())

    @property
    def places(self) -> dict[Key, Any]:
        """How far every source has come."""
        return {key: feed.place for key, feed in self._feeds.items()}

    def stream(self, name: str) -> StreamFeed:
        """A stream that is being read."""
        if name not in self.streams:
            help = f"streams: {', '.join(self.streams) or 'none'}"
            raise ExecutionError(f"the graph reads no stream `{name}`", help=help)
        return self.streams[name]

    def open(self, leaves: Iterable[SourceExec]) -> None:
        """Open what leaves need."""
        for leaf in leaves:
            self._opened(key_of(leaf))

    def keep(self, parts: Container[Exec]) -> None:
        """Let go of relations whose leaves are gone: one that comes later reads anew."""
        feeds = self._feeds.items()
        self._feeds = {k: feed for k, feed in feeds if isinstance(k, str) or k in parts}
        self._held = {k: rows for k, rows in self._held.items() if k in self._feeds}

    def read(self) -> dict[Key, Read]:
        """What has come of every source since what was `taken`."""
        for key, feed in self._feeds.items():
            if key not in self._held:
                self._held[key] = feed.tick()
        return dict(self._held)

    def taken(self) -> None:
        """What was read is in safe hands: it need not be read again."""
        self._held = {}

    def watermark(self, leaf: SourceExec) -> int:
        """Behind which instant no more rows of a source start."""
        return self._feeds[key_of(leaf)].progress.watermark

    def go_to(self, places: Mapping[Key, Any]) -> None:
        """Go on where sources were. Streams that had no place then were dropped before."""
        feeds = self._feeds.items()
        self._feeds = {k: f for k, f in feeds if not isinstance(k, str) or k in places}
        for key, place in places.items():
            self._opened(key).go_to(place)

    def forget(self, source: str) -> None:
        """Let go of a stream that was dropped: another one may get its name."""
        known = [key for key in self._feeds if str(key).casefold() == source.casefold()]
        for key in known:
            del self._feeds[key]
            self._held.pop(key, None)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """What a checkpoint tells of may have been dropped since: then nobody reads it now."""
        self._restoring = True
        yield
        self._restoring = False
        feeds = self._feeds.items()
        self._feeds = {key: feed for key, feed in feeds if not isinstance(feed, GoneFeed)}

    def _opened(self, key: Key) -> Feed:
        if key not in self._feeds:
            name = key if isinstance(key, str) else key.scan.source
            self._feeds[key] = self._tried(name) if self._restoring else self._open(name)
        return self._feeds[key]

    def _tried(self, name: str) -> Feed:
        try:
            return self._open(name)
        except CatalogError:
            return GoneFeed(name, iter(()))


def key_of(leaf: SourceExec) -> Key:
    """What tells the source of a leaf apart."""
    if leaf.scan.kind is SourceKind.CHANGING:
        raise UnsupportedError(
            f"`{leaf.scan.source}` changes, which a graph in this process does not follow",
            help="run the query on its own, on Spark, or read the result with q.collect()",
        )
    return leaf.scan.source if leaf.scan.kind is SourceKind.STREAM else leaf
