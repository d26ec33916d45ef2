"""Which offsets each slice of a topic has, for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tidemill.connectors.feeds.opening import folder_of
from tidemill.connectors.feeds.slices import OffsetRange
from tidemill.connectors.kafka.lookups import Offsets
from tidemill.errors import ExecutionError
from tidemill.store import Numbered, Store

Ranges = tuple[OffsetRange, ...]


class OffsetLog:
    """Slices by number, and the offset up to which they reach in each partition.

    With a store, every look at the brokers that brought something is a record, which is there
    before a tick reads of it. Records go when no tick needs their slices; the last one stays.
    """

    def __init__(self, name: str, topic: str, store: Store | None) -> None:
        self._topic = topic
        folder = f"{folder_of(name)}/kafka"
        self._files = None if store is None else Numbered(store, folder, ".json", keep_last=True)
        self.first = 0
        self.slices: list[Ranges] = []
        self.positions: Offsets | None = None
        self.ended = False
        self._starts: dict[int, int] = {}
        """By record, the number of its first slice."""
        self._load(name)

    @property
    def next(self) -> int:
        """The number of the slice that comes next."""
        return self.first + len(self.slices)

    def add(self, slices: Sequence[Ranges], positions: Offsets, ended: bool) -> None:
        """Write down more slices before anyone reads them, and whether they are the last."""
        record = {
            "topic": self._topic,
            "first": self.next,
            "slices": slices,
            "positions": list(positions.items()),
            "ended": ended,
        }
        if self._files is not None:
            number = self._files.next
            self._files.put(number, json.dumps(record).encode())
            self._starts[number] = self.next
        self.slices += slices
        self.positions, self.ended = dict(positions), ended

    def forget(self, before: int) -> None:
        """Slices before a number are needed no more."""
        gone = max(0, min(before, self.next) - self.first)
        if self._files is None:
            self.first += gone
            del self.slices[:gone]
            return
        for (number, start), (later, end) in pairwise(sorted(self._starts.items())):
            if end > before:
                break
            self._files.remove_before(later)
            del self._starts[number]
            del self.slices[: end - start]
            self.first = end

    def _load(self, name: str) -> None:
        for number in [] if self._files is None else self._files.numbers:
            assert self._files is not None
            record = json.loads(self._files.get(number))
            self._check(name, record)
            if not self._starts:
                self.first = record["first"]
            self._starts[number] = record["first"]
            self.slices += [tuple(OffsetRange(*each) for each in s) for s in record["slices"]]
            self.positions = dict(record["positions"])
            self.ended = bool(record["ended"])

    def _check(self, name: str, record: Mapping[str, object]) -> None:
        if record["topic"] != self._topic:
            raise ExecutionError(
                f"`{name}` reads the topic `{self._topic}`, and its checkpoint has offsets of "
                f"`{record['topic']}`",
                help="choose another checkpoint, or the topic that it had",
            )
