"""When to let go of results that are still open.

A result whose end is not known yet holds the watermark of the output back, and with it all
operators above. Cutting it at the sweep line sets them free, but costs a row for every open
result. So open results are cut once as many rows have passed as there are open results: that
costs at most one more row per row, however many results are open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Own, Sweep
from tidemill.timeline import BEGIN, OPEN_END

_FREE = 4096  # so few rows may be cut in every step


class Release:
    """Keeps account of the rows that pay for a release."""

    STATE = ("_credit", "watermark")

    def __init__(self, eager: int) -> None:
        self.eager = eager
        self._credit = 0
        self.watermark = 0

    def is_due(self, until: int, rows: int, open_results: int) -> bool:
        """Whether open results are to be cut at `until` (at the end of the stream they are)."""
        self._credit += rows + _FREE
        due = until == OPEN_END or (self.eager > 0 and self._credit >= open_results)
        if due:
            self._credit = 0
            self.watermark = until
        return due


class OpenSweep(Sweep):
    """A sweep that may have results at its line whose end is not known yet."""

    STATE: ClassVar[tuple[str, ...]] = ("_release",)

    def __init__(self, *inputs: Schema, eager: int) -> None:
        super().__init__(*inputs)
        self._release = Release(eager)

    def take_over(self, node: Any) -> None:
        self._release.eager = node.eager

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        self._release.watermark = min(other._release.watermark for other in others)

    def rest(self, watermarks: Sequence[int]) -> int | None:
        # Open results may be due even if time stands still: they had to wait, or it has just
        # become eager.
        behind = self._release.eager and self._release.watermark < min(watermarks)
        return None if behind else super().rest(watermarks)

    def output_watermark(self, until: int) -> int:
        return self._release.watermark

    @property
    def next_change(self) -> int:
        """The first instant after which results may differ, if no row starts before it."""
        return BEGIN

    def is_quiet(self, until: int) -> bool:
        # Open results are cut at the end of time, and sooner if operators above wait for that.
        return until < OPEN_END and not self._release.eager and self.next_change >= until
