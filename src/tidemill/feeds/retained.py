"""Which slices of a stream are kept after ticks have taken them, for queries that begin later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemill.timeline import BEGIN


class Retained:
    """Slices that ticks have taken: from, to, the watermark before, and the newest time.

    Those younger than `retain` are kept; without it, none are.
    """

    def __init__(self, retain: int | None = None) -> None:
        self._retain = retain
        self._taken: list[tuple[int, int, int, int]] = []
        self.forgotten_until = BEGIN

    def took(self, start: int, stop: int, mark: int, newest: int) -> None:
        """A tick has taken slices."""
        self._taken.append((start, stop, mark, newest))

    def still(self, mark: int) -> list[tuple[int, int, int]]:
        """What is still kept when time has come so far: from, to, and the watermark it had."""
        oldest = None if self._retain is None else mark - self._retain
        while self._taken and (oldest is None or self._taken[0][3] < oldest):
            newest = self._taken.pop(0)[3]
            self.forgotten_until = max(self.forgotten_until, newest + 1)
        return [(start, stop, before) for start, stop, before, _ in self._taken]

    def dump(self) -> list[Any]:
        """All of it, to be written down."""
        return [self.forgotten_until, *self._taken]

    def load(self, known: Sequence[Any]) -> None:
        """Go on with what was written down."""
        self.forgotten_until, taken = known[0], known[1:]
        self._taken = [(a, b, c, d) for a, b, c, d in taken]
