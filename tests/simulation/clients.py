"""Whoever pushes rows into a stream, and knows what was acknowledged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import pyarrow as pa

from tests.checking.plans import stream_tables
from tests.random.data import RandomStream, to_table
from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import PushedFeed, read_slice
from tidemill.runtime.sources import StreamSource
from tidemill.store import Store


@dataclass
class Client:
    """Pushes the rows of a stream, piece by piece, and closes it.

    Of what was not acknowledged when the process died, it cannot know whether it is there.
    """

    name: str
    stream: RandomStream
    there: int = 0
    is_closed: bool = False
    tries: str = ""
    ticks: list[int] = field(default_factory=list)

    @property
    def pieces(self) -> list[tuple[dict[str, object], ...]]:
        return [rows for rows in self.stream.ticks if rows]

    def opened(self, source: StreamSource, store: Store) -> StreamSource:
        """The stream as rows that are pushed, of which the store may have some."""
        self._schema = Schema.from_arrow(stream_tables(self.stream)[0].schema)
        self.feed = PushedFeed(self.name, self._schema, store)
        self._check()
        return replace(source, feed=self.feed)

    def _check(self) -> None:
        """All that was acknowledged is there once, and at most what was tried besides."""
        found, may_be = self.feed.poll(), self.there + (self.tries == "push")
        assert self.there <= found <= may_be, (
            f"{self.name}: {self.there} pushes were acknowledged, and {found} are there"
        )
        closed = self.feed.ended_at is not None
        assert closed >= self.is_closed, f"{self.name} was closed, and is not"
        assert not closed or self.is_closed or self.tries == "close"
        self.there, self.is_closed, self.tries = found, closed, ""
        for number, slice in enumerate(self.feed.slices(self.feed.first, found), self.feed.first):
            pushed = to_table(self.pieces[number])
            rows = read_slice(slice, self._schema, pushed.column_names, self.name)
            assert _equal(rows, pushed), f"{self.name}: push {number} is not what was pushed"

    @property
    def wants(self) -> str:
        """What it does next."""
        if self.there < len(self.pieces):
            return f"push {self.there} into {self.name}"
        return f"close {self.name}"

    def act(self) -> None:
        """Push what is next, or close the stream."""
        if self.there < len(self.pieces):
            self.tries = "push"
            self.feed.push(to_table(self.pieces[self.there]))
            self.there += 1
        else:
            self.tries = "close"
            self.feed.close_input()
            self.is_closed = True
        self.tries = ""

    def ticked(self, position: int) -> None:
        """The ticks so far have taken so many pushes."""
        if position > (self.ticks[-1] if self.ticks else 0):
            self.ticks.append(position)

    def taken(self) -> RandomStream:
        """The stream in the ticks in which it was read."""
        bounds = [0, *self.ticks, len(self.pieces)]
        groups = (self.pieces[a:b] for a, b in pairwise(bounds))
        ticks = tuple(tuple(row for piece in group for row in piece) for group in groups)
        return replace(self.stream, ticks=ticks)


def _equal(one: pa.Table, other: pa.Table) -> bool:
    # NaN is not equal to itself.
    return str(one.to_pylist()) == str(other.to_pylist())
