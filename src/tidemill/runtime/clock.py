"""How far time has come in the sources of a graph, and how a tick moves it on.

What is late is decided by the watermarks of the ticks before. The watermarks by which operators
go are those of this very tick: every task that reads tells all others the newest time it has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tidemill.algebra.nodes import SourceKind
from tidemill.timeline import BEGIN, OPEN_END, TimeDomain

NEVER = -1
"""The newest time of a source that has brought nothing."""


@dataclass(frozen=True)
class SourceClock:
    """One source: its watermark after the ticks before, and the newest time so far.

    `beat` is how far it was said to have come in this tick without rows; one that has `ended`
    brings nothing after this tick.
    """

    kind: SourceKind = SourceKind.STREAM
    domain: TimeDomain | None = None
    slack: int = 0
    mark: int = BEGIN
    newest: int = NEVER
    beat: int = BEGIN
    ended: bool = False

    def seeing(self, newest: int) -> SourceClock:
        """The clock once a tick has brought this newest time."""
        beaten = self.beat + self.slack if self.beat > BEGIN else NEVER
        return replace(self, newest=max(self.newest, newest, beaten))


Clocks = Mapping[str, SourceClock]


@dataclass
class Seen:
    """What tasks have seen of a source in a tick: rows, late ones, oldest (in time) and newest."""

    rows: int = 0
    late: int = 0
    oldest: int = OPEN_END
    newest: int = NEVER

    def add(self, other: Seen) -> None:
        """Take what another task has seen into account."""
        self.rows += other.rows
        self.late += other.late
        self.oldest = min(self.oldest, other.oldest)
        self.newest = max(self.newest, other.newest)


Sights = Mapping[str, Seen]
"""By source, what was seen of it."""


@dataclass
class Facts:
    """What a task tells all those of the next stage: what it saw, and watermarks by exchange."""

    sights: dict[str, Seen] = field(default_factory=dict)
    marks: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def together(told: Sequence[Facts]) -> Facts:
        """What all tasks have told: an exchange has come as far as the last of those that fill it.

        >>> Facts.together([Facts(marks={3: 7}), Facts(marks={3: 5, 4: 1})]).marks
        {3: 5, 4: 1}
        """
        marks: dict[int, int] = {}
        for facts in told:
            for tag, mark in facts.marks.items():
                marks[tag] = min(mark, marks.get(tag, mark))
        return Facts(seen_by(told), marks)


def seen_by(told: Iterable[Facts]) -> dict[str, Seen]:
    """What all tasks have seen together."""
    found: dict[str, Seen] = {}
    for facts in told:
        for name, seen in facts.sights.items():
            found.setdefault(name, Seen()).add(seen)
    return found


def moved(clocks: Clocks, sights: Sights) -> dict[str, SourceClock]:
    """The clocks after a tick.

    A relation that changes goes by the streams: what changes later counts from after all rows that
    they have brought. Without a stream, every tick that brings changes is an instant.

    >>> bid = SourceClock(slack=2, mark=3, newest=5)
    >>> rate = SourceClock(SourceKind.CHANGING)
    >>> after = moved({"bid": bid, "rate": rate}, {"bid": Seen(rows=1, oldest=9, newest=9)})
    >>> after["bid"].mark, after["rate"].mark
    (7, 10)
    """
    seen = {
        name: clock.seeing(sights[name].newest if name in sights else NEVER)
        for name, clock in clocks.items()
    }
    streams: dict[TimeDomain | None, int] = {}
    for clock in seen.values():
        if clock.kind is SourceKind.STREAM:
            streams[clock.domain] = max(clock.newest, streams.get(clock.domain, NEVER))
    return {name: replace(clock, mark=_mark(clock, streams)) for name, clock in seen.items()}


def _mark(clock: SourceClock, streams: Mapping[TimeDomain | None, int]) -> int:
    match clock.kind:
        case _ if clock.ended:
            return OPEN_END
        case SourceKind.STREAM:
            return max(clock.mark, clock.beat, clock.newest - clock.slack)
        case SourceKind.CHANGING:
            known = [newest for domain, newest in streams.items() if _same(domain, clock.domain)]
            return max(clock.mark, max(known, default=clock.newest) + 1)
        case _:
            return OPEN_END


def _same(domain: TimeDomain | None, own: TimeDomain | None) -> bool:
    """Whether two sources have the same time; that of a relation may not be known yet."""
    return own is None or domain is None or own is domain


def newest_of(clocks: Clocks, sources: Iterable[str]) -> int:
    """The newest time of any of the sources; where there are streams, theirs counts."""
    known = [clocks[name] for name in sources if name in clocks]
    streams = [clock for clock in known if clock.kind is SourceKind.STREAM]
    return max((clock.newest for clock in streams or known), default=NEVER)
