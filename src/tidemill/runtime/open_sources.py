"""The sources that a run has opened: what a tick takes of each, and how far they have come."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import quote

import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.connectors.feeds import Feed, Slice, TableSlice, stored
from tidemill.errors import CatalogError, ExecutionError, TidemillError
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.clock import NEVER, Clocks, Seen, SourceClock
from tidemill.runtime.followed_relations import FollowedRelations
from tidemill.runtime.parcels import scratch
from tidemill.runtime.planned_epoch import PlannedEpoch
from tidemill.runtime.progress import RelationProgress, SourceProgress
from tidemill.runtime.reports import TaskFailure
from tidemill.runtime.source_task import SourcePiece
from tidemill.runtime.sources import (
    ChangingSource,
    OpenStream,
    RelationSource,
    Source,
    StreamSource,
    overdue,
    take,
)
from tidemill.runtime.ticks import Begun
from tidemill.runtime.validity import Timing
from tidemill.store import Store
from tidemill.timeline import BEGIN, OPEN_END, TimeDomain

_T = TypeVar("_T")

_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class Changing:
    """A relation that changes, as the run follows it."""

    source: ChangingSource
    following: FollowedRelations
    clock: SourceClock = field(default_factory=lambda: SourceClock(SourceKind.CHANGING))
    rows: int = 0

    @property
    def progress(self) -> RelationProgress:
        mark = None if self.clock.mark == OPEN_END else self.clock.mark
        told = self.following
        return RelationProgress(self.rows, 0, mark, told.held, told.changes, told.missing)


class OpenSources:
    """Streams are opened when they are first needed, and read from then on.

    Relations are read for every leaf that begins. A run that is `bounded` reads what is there.
    """

    def __init__(
        self, open_source: Callable[[str], Source], store: Store | None, bounded: bool = False
    ) -> None:
        self._open = open_source
        self._store = store
        self._bounded = bounded
        self.streams: dict[str, OpenStream] = {}
        self.changing: dict[str, Changing] = {}
        self._relations: dict[str, RelationSource] = {}
        self.wake: Callable[[], None] = lambda: None

    def open(self, leaves: Iterable[SourceExec]) -> None:
        """Open what leaves need."""
        for name in dict.fromkeys(leaf.scan.source for leaf in leaves):
            if name not in self.timings:
                self._opened(name, self._open(name))

    def _opened(self, name: str, source: Source) -> None:
        match source:
            case StreamSource():
                self.streams[name] = OpenStream.opened(source, self._bounded)
                source.feed.wake = lambda: self.wake()
            case ChangingSource():
                following = source.follow(self._store)
                following.listen(lambda: self.wake())
                self.changing[name] = Changing(source, following)
            case RelationSource():
                self._relations[name] = source

    def keep(self, leaves: Iterable[SourceExec]) -> None:
        """Let go of relations that no query reads: a later query reads them anew."""
        needed = {leaf.scan.source for leaf in leaves}
        self._relations = {n: each for n, each in self._relations.items() if n in needed}
        for name in [name for name in self.changing if name not in needed]:
            self.changing.pop(name).following.forget()

    def forget(self, source: str) -> None:
        """Let go of a source that was dropped: another one may get its name."""
        for name in [name for name in self.timings if name.casefold() == source.casefold()]:
            self._relations.pop(name, None)
            if name in self.changing:
                self.changing.pop(name).following.forget()
            if name in self.streams:
                self.streams.pop(name).source.feed.close()

    def close(self) -> None:
        """Read nothing more."""
        for stream in self.streams.values():
            stream.source.feed.close()
        for relation in self.changing.values():
            relation.following.close()

    @property
    def feeds(self) -> list[Feed]:
        """What streams bring."""
        return [stream.source.feed for stream in self.streams.values()]

    @property
    def timings(self) -> dict[str, Timing]:
        """How to tell when rows hold, by source."""
        infos = {name: stream.source.info for name, stream in self.streams.items()}
        infos |= {name: relation.source.info for name, relation in self.changing.items()}
        infos |= {name: each.info for name, each in self._relations.items()}
        return {name: Timing.of(info) for name, info in infos.items()}

    @property
    def is_ended(self) -> bool:
        """Whether nothing can come any more. Time goes on with streams; where there are none, a
        relation may change for ever."""
        if self.changing and not self.streams:
            return self._bounded
        return all(stream.clock.ended for stream in self.streams.values())

    def let_broken_go(self, begun: Begun) -> None:
        """Streams that could not be read are opened anew by whoever wants them next."""
        for name in begun.broken.keys() & self.streams.keys():
            self.forget(name)

    @property
    def has_more(self) -> bool:
        """Whether another tick would bring something; a broken source is reported there."""
        try:
            return (
                any(stream.has_more for stream in self.streams.values())
                or any(relation.following.look() for relation in self.changing.values())
                or bool(overdue(self.streams, time.monotonic()))
            )
        except (TidemillError, OSError):
            return True

    def look_anew(self) -> None:
        """What was seen of streams before is old; a look costs time for every file that is known,
        so that there is one for each tick."""
        for stream in self.streams.values():
            stream.looked = None

    def note_domain(self, source: str, domain: TimeDomain | None) -> None:
        """A relation that changes has the time of the queries that read it."""
        if source in self.changing and domain is not None:
            relation = self.changing[source]
            relation.clock = replace(relation.clock, domain=domain)

    def stream(self, name: str) -> OpenStream:
        """A stream that is being read, by name, whatever its case."""
        named = {known.casefold(): known for known in self.streams}
        if name.casefold() not in named:
            help = f"streams: {', '.join(self.streams) or 'none'}"
            raise ExecutionError(f"the graph reads no stream `{name}`", help=help)
        return self.streams[named[name.casefold()]]

    # What a tick takes

    def next(self, tick: int, planned: PlannedEpoch, most: int) -> Begun:
        """What the next tick is to do; it takes no more than a bound in bytes of each stream."""
        idle = overdue(self.streams, time.monotonic())
        fresh = planned.fresh if tick == planned.epoch.tick else frozenset()
        broken: dict[str, TaskFailure] = {}

        def each(names: Iterable[str], what: Callable[[str], _T]) -> dict[str, _T]:
            """What there is of sources; of one that cannot be read, why."""
            found = {}
            for name in names:
                try:
                    found[name] = what(name)
                except (TidemillError, OSError) as error:
                    if getattr(error, "errno", None) in _FULL:
                        raise  # it was read, and cannot be written down: the tick is made again
                    broken[name] = TaskFailure.of(error)
            return found

        streams = each(self.streams, lambda name: take(self.streams[name], idle.get(name, 0), most))
        relations = each(sources_of(fresh), lambda name: self._content(tick, name))
        changes = each(self.changing, lambda name: self._changed(tick, name))
        past = {name: self._past(name) for name in sources_of(fresh) if name in self.streams}
        arrived = max([time.time_ns() // 1000, *(s.clock.newest for s in self.streams.values())])
        return Begun(tick, arrived, streams, relations, changes, past, broken)

    def _content(self, tick: int, name: str) -> list[Slice]:
        """What a relation holds, for leaves that have seen nothing of it."""
        if name in self._relations:
            read = self._relations[name].read()
        elif name in self.changing and self.changing[name].following.go_on(tick):
            read = [TableSlice(self.changing[name].following.open.to_arrow())]
        else:
            read = []
        return [self._kept(tick, name, number, each) for number, each in enumerate(read)]

    def _changed(self, tick: int, name: str) -> list[Slice]:
        """What has changed in a relation; it counts from after all rows of streams."""
        relation = self.changing[name]
        relation.following.go_on(tick)
        earliest = BEGIN if relation.source.timeless else relation.clock.mark
        rows = relation.following.take(tick, earliest)
        relation.clock = replace(relation.clock, newest=_newest(relation.clock.newest, rows))
        if not rows.height:
            return []
        relation.rows += rows.height
        return [self._kept(tick, f"{name}-changes", 0, TableSlice(rows.to_arrow()))]

    def _past(self, name: str) -> list[tuple[int, int, int]]:
        """Slices of a stream that are still there, for leaves that begin now."""
        stream = self.streams[name]
        return stream.retained.still(stream.clock.mark)

    def _kept(self, tick: int, name: str, number: int, slice: Slice) -> Slice:
        """A table as tasks elsewhere can read it, and a tick that is done again."""
        if self._store is None or not isinstance(slice, TableSlice):
            return slice
        file = f"{scratch(tick)}/{quote(name, safe='')}-{number:05d}.arrow"
        return stored(self._store, file, slice.table, later=True)

    def pieces(self, begun: Begun, planned: PlannedEpoch) -> list[SourcePiece]:
        """What tasks read in a tick."""
        found = []
        for name, taken in begun.streams.items():
            if name in self.streams:
                stream = self.streams[name]
                for start, stop, mark in taken.parts(stream.clock.mark):
                    slices = stream.slices(start, stop)
                    until = stream.until(taken, mark)
                    found += [SourcePiece(name, each, mark, until=until) for each in slices]
        fresh = planned.fresh
        for name, parts in begun.past.items():
            mine = frozenset(leaf for leaf in fresh if leaf.scan.source == name)
            for start, stop, mark in parts:
                slices = self.streams[name].slices(start, stop)
                until = self.streams[name].until_then(start, stop, mark)
                found += [SourcePiece(name, each, mark, mine, False, until) for each in slices]
        for name, contents in begun.relations.items():
            mine = frozenset(leaf for leaf in fresh if leaf.scan.source == name)
            counts = name in self._relations
            found += [SourcePiece(name, each, leaves=mine, counts=counts) for each in contents]
        for name, changed in begun.changes.items():
            found += [SourcePiece(name, each, counts=False) for each in changed]
        return found

    def clocks(self, begun: Begun) -> dict[str, SourceClock]:
        """The clocks with which a tick begins."""
        found = {
            name: taken.clock(self.streams[name])
            for name, taken in begun.streams.items()
            if name in self.streams
        }
        ended = (begun.streams[n].ended for n in self.streams if n in begun.streams)
        ends = self._bounded and all(ended)
        for name in begun.broken.keys() & self.streams.keys():
            # Whoever reads it fails; it must not hold back others.
            found[name] = self.streams[name].clock
        for name, relation in self.changing.items():
            found[name] = replace(relation.clock, ended=ends)
        for name, static in self._relations.items():
            found[name] = SourceClock(static.info.kind)
        return found

    def took(self, begun: Begun, clocks: Clocks, sights: Mapping[str, Seen]) -> None:
        """A tick is done."""
        for name, taken in begun.streams.items():
            if name in self.streams:
                self.streams[name].took(taken, clocks[name], sights.get(name, Seen()))
        for name, relation in self.changing.items():
            relation.clock = replace(clocks[name], ended=False)

    def let_go(self) -> None:
        """What ticks have read for good is not needed any more."""
        for stream in self.streams.values():
            stream.let_go()

    # How far everything has come

    @property
    def missed(self) -> dict[str, int]:
        """What a new leaf of a source has missed for good: the end of the newest such row."""
        found = {name: stream.missed for name, stream in self.streams.items()}
        found |= {name: relation.clock.mark for name, relation in self.changing.items()}
        return found

    @property
    def now(self) -> dict[str, SourceClock]:
        """The clocks after the last tick."""
        # Others may open sources meanwhile.
        found = {name: stream.clock for name, stream in list(self.streams.items())}
        found |= {name: relation.clock for name, relation in list(self.changing.items())}
        found |= {
            name: SourceClock(each.info.kind, mark=OPEN_END)
            for name, each in list(self._relations.items())
        }
        return found

    @property
    def progress(self) -> dict[str, SourceProgress]:
        streams, declared = list(self.streams.items()), list(self.declared.items())
        found: dict[str, SourceProgress] = {name: stream.progress for name, stream in streams}
        return found | {name: relation.progress for name, relation in declared}

    @property
    def declared(self) -> dict[str, Changing]:
        """The relations that change and that users know."""
        every = list(self.changing.items())
        return {name: relation for name, relation in every if not relation.source.timeless}

    def dump(self) -> dict[str, dict[str, Any]]:
        """How far everything has come, to be written down."""
        known = {name: stream.dump() for name, stream in self.streams.items()}
        for name, relation in self.changing.items():
            clock = relation.clock
            known[name] = {"mark": clock.mark, "newest": clock.newest, "rows": relation.rows}
        return known

    def go_to(self, known: Mapping[str, Mapping[str, Any]]) -> None:
        """Go on where everything was. What was dropped since then is not read any more."""
        for name, place in known.items():
            try:
                if name not in self.timings:
                    self._opened(name, self._open(name))
            except CatalogError:
                continue
            if name in self.streams:
                self.streams[name].go_to(place)
            elif name in self.changing:
                relation = self.changing[name]
                times = {"mark": place["mark"], "newest": place["newest"]}
                relation.clock = replace(relation.clock, **times)
                relation.rows = place["rows"]


def _newest(known: int, rows: pl.DataFrame) -> int:
    """The newest instant at which anything was inserted or deleted."""
    ends = rows[DELETED].filter(rows[DELETED] < OPEN_END)
    found = [known, rows[INSERTED].max(), ends.max()]
    return max((at for at in found if isinstance(at, int)), default=NEVER)


def sources_of(leaves: Iterable[SourceExec]) -> list[str]:
    """The names of the sources of leaves, each once."""
    return list(dict.fromkeys(leaf.scan.source for leaf in leaves))
