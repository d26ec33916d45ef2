"""Feeds: a source as a numbered list of slices that grows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from tidemill.connectors.feeds.slices import Slice, size_of

MOST_BYTES = 512 << 20
"""So much a tick takes from one source, unless a single slice is more."""


class Feed(ABC):
    """What a source has brought so far; a position in it is the number of a slice."""

    wake: Callable[[], None]
    """Called, from any thread, when something came that no poll has asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wake = _nobody

    @property
    def first(self) -> int:
        """The first slice that is still there."""
        return 0

    @abstractmethod
    def poll(self) -> int:
        """How many slices there are by now; this looks for new ones."""

    @abstractmethod
    def slices(self, start: int, stop: int) -> list[Slice]:
        """The slices from a position up to another, which a poll has given."""

    @property
    def ended_at(self) -> int | None:
        """The number of slices after which nothing can come; None if it is not known."""
        return None

    @property
    def ends_itself(self) -> bool:
        """Whether it is known to end, though not yet where."""
        return False

    @abstractmethod
    def stop_for(self, start: int) -> int:
        """How far a tick that starts at a position goes, within what polls have found."""

    def settle(self) -> None:  # noqa: B027 (most know at once)
        """Wait until everything that is there now is known to polls."""

    def taken(self, before: int) -> None:  # noqa: B027 (most do not wait for ticks)
        """Ticks have read the slices before this position."""

    def forget(self, before: int) -> None:  # noqa: B027 (files of users stay)
        """Slices before this position are needed no more."""

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """Let go of what is held open."""


def within(slices: Sequence[Slice], most: int | None, most_bytes: int = MOST_BYTES) -> int:
    """How many of the first slices are no more than so many and so many bytes; at least one.

    >>> from tidemill.connectors.feeds.slices import FileSlice
    >>> slices = [FileSlice("csv", "a", nbytes=300), FileSlice("csv", "b", nbytes=300)]
    >>> within(slices, 1000, 500), within(slices, 1000, 100), within([], 1000)
    (1, 1, 0)
    """
    filled = 0
    for number, slice in enumerate(slices[:most]):
        filled += size_of(slice)
        if number and filled > most_bytes:
            return number
    return len(slices[:most])


def _nobody() -> None:
    """Nobody waits."""
