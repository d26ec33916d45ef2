"""Which slices of the past are kept, so that new queries can read them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidemill.timeline import BEGIN, OPEN_END


class RetainedSlices(NamedTuple):
    """Slices that a tick took: the watermark `mark` before them, and their newest time."""

    start: int
    stop: int
    mark: int
    newest: int


class Retained:
    """The slices of one source that ticks took, as long as they are young enough.

    They are kept while their newest time is at most `retain` before the watermark; without
    `retain` none is kept.

    >>> kept = Retained(retain=10)
    >>> kept.took(0, 2, mark=0, newest=7)
    >>> kept.took(2, 3, mark=7, newest=15)
    >>> kept.still(17), kept.still(18), kept.forgotten_until
    ([(0, 2, 0), (2, 3, 7)], [(2, 3, 7)], 8)
    """

    def __init__(self, retain: int | None) -> None:
        self.retain = retain
        self._taken: list[RetainedSlices] = []
        self._forgotten_until = BEGIN

    def took(self, start: int, stop: int, mark: int, newest: int) -> None:
        """A tick took slices, one after the other without gaps."""
        self._taken.append(RetainedSlices(start, stop, mark, newest))
        if self.retain is None:
            self._forget(1)

    def still(self, mark_now: int) -> list[tuple[int, int, int]]:
        """The slices that are kept at a watermark, with the watermark before each.

        Slices that came after one that is kept are kept as well, so that there are no gaps.
        """
        if self.retain is not None:
            oldest = mark_now - self.retain
            kept = [number for number, each in enumerate(self._taken) if each.newest >= oldest]
            self._forget(kept[0] if kept else len(self._taken))
        return [(each.start, each.stop, each.mark) for each in self._taken]

    def newest(self, start: int, stop: int) -> int:
        """The newest time of the tick that took some slices."""
        same = (each for each in self._taken if (each.start, each.stop) == (start, stop))
        return next((each.newest for each in same), OPEN_END)

    @property
    def forgotten_until(self) -> int:
        """Before this time something may be missing: it was taken, and is not kept any more."""
        return self._forgotten_until

    @property
    def first(self) -> int | None:
        """The first slice that is kept; those before it may be forgotten."""
        return self._taken[0].start if self._taken else None

    def dump(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {"taken": [list(each) for each in self._taken], "until": self._forgotten_until}

    @staticmethod
    def load(retain: int | None, state: dict[str, Iterable[Iterable[int]] | int]) -> Retained:
        """What `dump` has written; the time for which slices are kept may be another now.

        >>> kept = Retained(5)
        >>> kept.took(0, 1, 0, 3)
        >>> Retained.load(5, kept.dump()).still(4)
        [(0, 1, 0)]
        """
        kept = Retained(retain)
        taken, until = state["taken"], state["until"]
        assert isinstance(until, int)
        assert not isinstance(taken, int)
        kept._taken, kept._forgotten_until = [RetainedSlices(*each) for each in taken], until
        if retain is None:
            kept._forget(len(kept._taken))
        return kept

    def _forget(self, count: int) -> None:
        gone, self._taken = self._taken[:count], self._taken[count:]
        ends = [each.newest + 1 for each in gone]
        self._forgotten_until = max([self._forgotten_until, *ends])
