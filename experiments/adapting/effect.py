"""When a change of a window's size shows."""

from __future__ import annotations

from dataclasses import dataclass

from tidemill.timeline import add


@dataclass(frozen=True)
class Effect:
    """The first instant that may differ, and the one from which on all rows have the new size.

    One row per instant given, the number of rows in the window is the new one an instant before
    `complete_from`: the last row of the old size starts an instant before the change.
    """

    visible_from: int
    complete_from: int


def effect_of(at: int, old: int, new: int) -> Effect:
    """What a change of the size of a time window does to its content.

    >>> effect_of(80, old=60, new=30)
    Effect(visible_from=110, complete_from=140)
    """
    return Effect(add(at, min(old, new)), add(at, max(old, new)))
