"""Messages that come: each look at the brokers makes slices of what is new."""

from __future__ import annotations

import time
from threading import Lock

from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds.feed import Feed, within
from tidemill.connectors.feeds.slices import OffsetRange, OptionValue, Slice, TopicSlice
from tidemill.connectors.kafka.log import OffsetLog, Ranges
from tidemill.connectors.kafka.lookups import Lookups, Offsets
from tidemill.connectors.kafka.options import TopicOptions
from tidemill.errors import ExecutionError
from tidemill.store import Store

_ASK_EVERY = 5.0
"""Seconds after which new partitions are seen at the latest."""


class KafkaFeed(Feed):
    """A topic as slices: from each partition what came since the slice before.

    The driver looks up offsets only; tasks read the messages. Slices are kept in the store, so
    that a tick that is done again reads the same offsets. A `bounded` feed has what the first look
    finds. Partitions that are added later are read from their begin.
    """

    def __init__(
        self,
        name: str,
        options: TopicOptions,
        given: tuple[tuple[str, OptionValue], ...],
        store: Store | None = None,
        bounded: bool = False,
    ) -> None:
        super().__init__(name)
        self._options = options
        self._given = given
        self._bounded = bounded
        self._log = OffsetLog(name, options.topic, store)
        self._lookups = Lookups(options.cluster, options.topic)
        self._seen: list[int] = []
        self._ask_at = 0.0
        self._looking = Lock()  # ticks look, and whoever tells how far time has come

    @property
    def first(self) -> int:
        return self._log.first

    def poll(self) -> int:
        with self._looking:
            if not (self._bounded and self._log.ended):
                self._look()
            return self._log.next

    def slices(self, start: int, stop: int) -> list[Slice]:
        with self._looking:
            first = self._log.first
            found = self._log.slices[max(0, start - first) : max(0, stop - first)]
        return [TopicSlice(self._given, ranges) for ranges in found]

    @property
    def ended_at(self) -> int | None:
        return self._log.next if self._bounded and self._log.ended else None

    def stop_for(self, start: int) -> int:
        """No more messages than a tick may take, but a whole slice: it has all partitions."""
        there = self.slices(start, self._log.next)
        count, rows = 0, 0
        for each in there:
            rows += each.rows or 0
            if count and rows > self._options.most:
                break
            count += 1
        return start + within(there, count)

    def forget(self, before: int) -> None:
        with self._looking:
            self._log.forget(before)

    def _look(self) -> None:
        partitions = self._partitions()
        known = self._log.positions
        if not partitions and known is None:
            raise self._lookups.missing()
        self._check(partitions, known or {})
        starts = self._starts(partitions, known)
        ends = self._lookups.ends(partitions)
        for number in partitions:
            if ends[number] < starts[number]:
                raise self._anew(f"partition {number} ends at {ends[number]}", starts[number])
        new = [OffsetRange(n, starts[n], ends[n]) for n in partitions if starts[n] < ends[n]]
        if new or known is None or len(known) < len(partitions) or self._bounded:
            self._log.add(rounds(new, self._options.most), ends, self._bounded)

    def _partitions(self) -> list[int]:
        """The partitions, which rarely change: ticks look many times in a second."""
        if time.monotonic() >= self._ask_at:
            self._seen = self._lookups.partitions()
            self._ask_at = time.monotonic() + _ASK_EVERY
        return self._seen

    def _starts(self, partitions: list[int], known: Offsets | None) -> Offsets:
        """Where partitions go on; those that nobody has seen yet, where they begin."""
        new = [number for number in partitions if known is None or number not in known]
        start = self._options.start if known is None else "earliest"
        if isinstance(start, int):
            found, ends = self._lookups.since(start, new), self._lookups.ends(new)
            begins = {n: found[n] if found[n] >= 0 else ends[n] for n in new}
        else:
            lookup = self._lookups.begins if start == "earliest" else self._lookups.ends
            begins = lookup(new)
        return {**(known or {}), **begins}

    def _check(self, partitions: list[int], known: Offsets) -> None:
        for number, position in known.items():
            if number not in partitions:
                raise self._anew(f"there is no partition {number} any more", position)

    def _anew(self, what: str, position: int) -> ExecutionError:
        return ExecutionError(
            f"`{self._options.topic}` is not the topic that `{self.name}` has read up to offset "
            f"{position}: {what}",
            help="a topic that was deleted and made again has other messages: start the query "
            "again with another checkpoint",
        )


def rounds(ranges: list[OffsetRange], most: int) -> list[Ranges]:
    """Slices of at most so many messages, each with the same share of all partitions.

    So partitions go on together, and rows of none are late because another was read first.

    >>> found = rounds([OffsetRange(0, 0, 4), OffsetRange(1, 10, 12)], 3)
    >>> [[tuple(each) for each in ranges] for ranges in found]
    [[(0, 0, 2), (1, 10, 11)], [(0, 2, 4), (1, 11, 12)]]
    """
    found = []
    left = ranges
    while total := sum(each.end - each.start for each in left):
        sizes = _shares(left, -(-total // -(-total // most)), total)
        pairs = list(zip(left, sizes, strict=True))
        found.append(tuple(r._replace(end=r.start + size) for r, size in pairs if size))
        left = [r._replace(start=r.start + size) for r, size in pairs]
    return found


def _shares(ranges: list[OffsetRange], most: int, total: int) -> list[int]:
    """How many messages of each range, so that it is so many of all `total` ones."""
    sizes = [(each.end - each.start) * most // total for each in ranges]
    left = [each.end - each.start - size for each, size in zip(ranges, sizes, strict=True)]
    by_need = sorted(range(len(ranges)), key=lambda number: -left[number])
    for number in by_need[: most - sum(sizes)]:
        sizes[number] += 1
    return sizes


def kafka_feed(info: SourceInfo, store: Store | None = None, bounded: bool = False) -> KafkaFeed:
    """The topic that a stream was declared to be.

    SOURCE kafka(servers => 'host:9092', topic => 'bid')
    """
    whose = f"the source of `{info.name}`"
    if info.arguments:
        help = "as in SOURCE kafka(servers => 'host:9092', topic => 'bid')"
        raise ExecutionError(f"{whose} has options without names", help=help)
    options = TopicOptions.of(info.options, info.declared, whose)
    return KafkaFeed(info.name, options, tuple(info.options.items()), store, bounded)
