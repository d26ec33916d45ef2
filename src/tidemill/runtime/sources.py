"""The sources of a run, as whoever knows them hands them over, and how far each has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

from tidemill.algebra.nodes import SourceKind
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import ChangeSource
from tidemill.connectors.feeds import MOST_BYTES, Feed, Retained, Slice, folder_of, within
from tidemill.errors import ExecutionError
from tidemill.runtime.clock import Seen, SourceClock
from tidemill.runtime.followed_relations import FollowedRelations
from tidemill.runtime.progress import SourceProgress
from tidemill.store import Store
from tidemill.timeline import BEGIN, OPEN_END, TimeDomain


@dataclass(frozen=True)
class StreamSource:
    """A stream: what it is, and what it brings."""

    info: SourceInfo
    feed: Feed


@dataclass(frozen=True)
class RelationSource:
    """A relation that does not change: what it is, and how to read all of it."""

    info: SourceInfo
    read: Callable[[], list[Slice]]


@dataclass(frozen=True)
class ChangingSource:
    """A relation that changes: what it is, and who tells of its changes.

    Changes of one that is `timeless` count for the rows that come after them, whatever their time.
    """

    info: SourceInfo
    changes: ChangeSource
    timeless: bool = field(default=False, kw_only=True)

    def follow(self, store: Store | None) -> FollowedRelations:
        """What ticks of one run see of it."""
        return FollowedRelations(store, self.info.name, self.info.schema, self.changes)


Source = StreamSource | RelationSource | ChangingSource


Beat = tuple[int, int]
"""A number of slices, and the instant that the stream had reached after them."""


@dataclass
class OpenStream:
    """A stream that is being read: up to which slice, and what it has brought.

    Of a run that is to end, `end` is the slice after which it reads no more. `looked` is how many
    slices there were when somebody looked for this very tick.
    """

    source: StreamSource
    position: int = 0
    clock: SourceClock = field(default_factory=SourceClock)
    rows: int = 0
    late: int = 0
    end: int | None = None
    last_rows: float = field(default_factory=time.monotonic)
    retained: Retained = field(default_factory=lambda: Retained(None))
    beats: list[Beat] = field(default_factory=list)
    looked: int | None = None

    @staticmethod
    def opened(source: StreamSource, bounded: bool) -> OpenStream:
        """A stream at its beginning, or at what is left of it."""
        info = source.info
        clock = SourceClock(SourceKind.STREAM, info.domain, info.slack)
        stream = OpenStream(source, source.feed.first, clock, retained=Retained(info.retain))
        if bounded and not source.feed.ends_itself and source.feed.ended_at is None:
            stream.end = source.feed.poll()
        return stream

    @property
    def ends_at(self) -> int | None:
        """The slice after which nothing comes, if that is known."""
        return self.source.feed.ended_at if self.end is None else self.end

    @property
    def has_more(self) -> bool:
        """Whether slices wait, or the end or a heartbeat has to be passed on."""
        if self.clock.ended:
            return False
        waits = self._look() > self.position if self.end is None else True
        return waits or self.ends_at == self.position or bool(self.beats)

    def stop(self, most: int) -> int:
        """How far the next tick reads: no more than a bound in bytes, if there are slices."""
        feed = self.source.feed
        there = self._look() if self.looked is None else self.looked
        if there < self.position:  # what comes now would be taken for what was read
            raise self._lost(0, self.position)
        stop = feed.stop_for(self.position)
        stop = stop if self.end is None else min(stop, self.end)
        if most < MOST_BYTES and stop > self.position:
            return self.position + within(feed.slices(self.position, stop), None, most)
        return stop

    def _look(self) -> int:
        self.looked = self.source.feed.poll()
        return self.looked

    def slices(self, start: int, stop: int) -> list[Slice]:
        """What a tick takes, or has taken; nothing of it may be missing."""
        found = self.source.feed.slices(start, stop)
        if len(found) < stop - start:
            raise self._lost(start, stop)
        return found

    def _lost(self, start: int, stop: int) -> ExecutionError:
        return ExecutionError(
            f"of `{self.source.info.name}`, the slices from {start} to {stop - 1} are needed, and "
            f"some of them are missing in {folder_of(self.source.info.name)}",
            help="`tidemill verify` lists all damage of a folder; restore a backup, or choose "
            "another checkpoint",
        )

    def heartbeat(self, at: int) -> None:
        """Nothing that holds before an instant comes any more, after what is there now."""
        self.beats.append((self.source.feed.poll(), at))

    def took(self, taken: Taken, clock: SourceClock, seen: Seen) -> None:
        """A tick has read some slices."""
        for start, stop, mark in taken.parts(self.clock.mark):
            self.retained.took(start, stop, mark, seen.newest)
        if seen.rows:
            self.last_rows = time.monotonic()
        self.position, self.clock = taken.stop, replace(clock, beat=BEGIN)
        self.retained.still(self.clock.mark)  # what a commit says is kept must not be deleted
        self.beats = [beat for beat in self.beats if beat not in taken.beats]
        self.rows += seen.rows
        self.late += seen.late

    def until(self, taken: Taken, mark: int) -> int:
        """The last instant whose rows are taken after a watermark: later ones are ahead of time."""
        info = self.source.info
        if info.ahead is None:
            return OPEN_END
        if info.domain is TimeDomain.MICROSECONDS:
            return taken.now + info.ahead
        return mark + info.ahead if mark > BEGIN else OPEN_END

    def until_then(self, start: int, stop: int, mark: int) -> int:
        """The same for slices that an earlier tick took: none that it took was newer."""
        info = self.source.info
        if info.ahead is None:
            return OPEN_END
        of_tick = self.retained.newest(start, stop)
        is_ticks = info.domain is TimeDomain.TICKS and mark > BEGIN
        return min(of_tick, mark + info.ahead) if is_ticks else of_tick

    def let_go(self) -> None:
        """Slices that no tick can need any more, nor a query that begins, may be deleted."""
        still = self.retained.still(self.clock.mark)
        self.source.feed.taken(self.position)
        self.source.feed.forget(still[0][0] if still else self.position)

    @property
    def missed(self) -> int:
        """What begins now cannot have rows any more that end before this."""
        return self.retained.forgotten_until

    @property
    def progress(self) -> SourceProgress:
        mark = self.clock.mark
        return SourceProgress(self.rows, self.late, None if mark == OPEN_END else mark)

    def dump(self) -> dict[str, Any]:
        """How far it has come, to be written down."""
        clock = {"mark": self.clock.mark, "newest": self.clock.newest, "ended": self.clock.ended}
        counts = {"position": self.position, "rows": self.rows, "late": self.late}
        return {**clock, **counts, "retained": self.retained.dump()}

    def go_to(self, known: Mapping[str, Any]) -> None:
        """Go on where it was."""
        self.position, self.rows, self.late = (known[n] for n in ("position", "rows", "late"))
        times = {name: known[name] for name in ("mark", "newest", "ended")}
        self.clock = replace(self.clock, **times)
        self.retained = Retained.load(self.source.info.retain, known["retained"])
        first = self.retained.first
        if self.source.feed.first > (self.position if first is None else first):
            raise self._lost(self.position if first is None else first, self.source.feed.first)
        if self.clock.ended and self.source.feed.poll() > self.position:
            raise ExecutionError(
                f"there are new rows of `{self.source.info.name}`, but it has ended: the "
                "checkpoint knows that its input was complete, and what was held back came out",
                help="choose another checkpoint; for input that grows, do not use available_now",
            )


@dataclass(frozen=True)
class Taken:
    """What a tick takes of a stream: slices, how far it was said to have come, whether it ends.

    `now` is the time on the clock, in microseconds: done again, a tick takes the same rows.
    """

    start: int
    stop: int
    beats: tuple[Beat, ...] = ()
    ended: bool = False
    now: int = OPEN_END

    def clock(self, stream: OpenStream) -> SourceClock:
        """The clock with which the tick begins."""
        beat = max((at for _, at in self.beats), default=BEGIN)
        return replace(stream.clock, beat=beat, ended=self.ended)

    def parts(self, mark: int) -> Iterator[tuple[int, int, int]]:
        """Slices, each with the watermark before which its rows are late.

        That is the one after the ticks before, or what was said after the slices before.

        >>> list(Taken(0, 5, beats=((2, 8), (2, 9))).parts(mark=3))
        [(0, 2, 3), (2, 5, 9)]
        """
        cuts = sorted({self.start, self.stop, *(n for n, _ in self.beats if n > self.start)})
        for start, stop in pairwise(cuts):
            said = (at for number, at in self.beats if number <= start)
            yield start, stop, max([mark, *said])


def take(stream: OpenStream, beat: int = BEGIN, most: int = MOST_BYTES) -> Taken:
    """What the next tick takes of a stream; it may be moved on without having said so."""
    stop = stream.stop(most)
    said = [(max(number, stream.position), at) for number, at in stream.beats if number <= stop]
    stream.beats = [each for each in stream.beats if each[0] > stop] + said
    beats = (*said, *([(stop, beat)] if beat > BEGIN else []))
    ends = stream.ends_at is not None and stop >= stream.ends_at
    return Taken(stream.position, stop, beats, ends, time.time_ns() // 1000)


def overdue(streams: Mapping[str, OpenStream], now: float) -> dict[str, int]:
    """How far silent streams are moved on: to where the slowest of the others is.

    Silent is a stream that has brought no rows for longer than it may.
    """
    silent = {
        name
        for name, stream in streams.items()
        if (idle := stream.source.info.idle) is not None and now - stream.last_rows >= idle
    }
    found = {}
    for name in silent:
        domain = streams[name].source.info.domain
        alike = {n: s.clock.mark for n, s in streams.items() if s.source.info.domain is domain}
        awake = [mark for other, mark in alike.items() if other not in silent]
        target = min(awake) if awake else max(alike.values())
        if streams[name].clock.mark < target < OPEN_END:
            found[name] = target
    return found


def dumped(taken: Mapping[str, Taken]) -> dict[str, Any]:
    """What a tick takes, to be written down."""
    return {name: asdict(each) for name, each in taken.items()}


def loaded(taken: Mapping[str, Any]) -> dict[str, Taken]:
    """What a tick was to take, from what was written down."""
    return {
        name: Taken(**{**each, "beats": tuple((n, at) for n, at in each["beats"])})
        for name, each in taken.items()
    }
