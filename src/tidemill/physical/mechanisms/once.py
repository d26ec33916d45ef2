"""Work that several operators of a graph would do alike in one tick: it is done once.

Joins over the same window on the same key make the same rows ready, and merge the same runs of
rows as time goes on. As rows are never changed, they can hold the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

_MOST = 4096

_Result = TypeVar("_Result")


class Once:
    """Results of this tick, by what they were made of: the same objects, not equal ones.

    >>> done, rows = Once(), [1, 2]
    >>> done.get((rows,), "sum", lambda: sum(rows)), done.get((rows,), "sum", lambda: 0)
    (3, 3)
    """

    def __init__(self) -> None:
        self._done: dict[Hashable, tuple[tuple[object, ...], object]] = {}

    def get(
        self, objects: tuple[object, ...], what: Hashable, make: Callable[[], _Result]
    ) -> _Result:
        """What was made of these objects, or is made now."""
        key = (what, *map(id, objects))
        found = self._done.get(key)
        if found is None:
            if len(self._done) >= _MOST:
                self.forget()
            # The objects are kept with it, so that no others get their identities meanwhile.
            found = self._done[key] = (objects, make())
        return found[1]  # type: ignore[return-value]

    def forget(self) -> None:
        """The tick is over."""
        self._done.clear()


ONCE = Once()
