"""A feed that somebody else's run consumes, as another run sees it."""

from __future__ import annotations

from tidemill.connectors.feeds.feed import Feed
from tidemill.connectors.feeds.slices import Slice


class View(Feed):
    """What is in a feed now. Whoever reads it takes nothing away."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed.name)
        self._feed = feed
        self._first, self._end = feed.first, feed.poll()

    @property
    def first(self) -> int:
        return self._first

    def poll(self) -> int:
        return self._end

    def slices(self, start: int, stop: int) -> list[Slice]:
        return self._feed.slices(start, min(stop, self._end))

    @property
    def ended_at(self) -> int | None:
        return self._end

    def stop_for(self, start: int) -> int:
        return self._end
