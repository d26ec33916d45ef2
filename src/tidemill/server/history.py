"""What the parts of the graph did in the last minutes: bounded, and cheap to keep."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from tidemill.graph.metadata import NodeMetadata
from tidemill.wire.graph import NodeHistory

_NUMBERS = ("input_rate", "output_rate", "selectivity", "seconds")
_COUNTS = (
    "rows_in", "rows_out", "state_rows", "state_bytes", "watermark", "window", "granularity",
)  # fmt: skip
_NOTHING = -1
"""No count is negative: so much stands for one that there is none of."""

DISTANCE = 1.0
"""Seconds between two looks that are kept."""

MOST_LOOKS = 300
MOST_CELLS = 2_000_000


class _Look(NamedTuple):
    """All parts at one time: their places, and a column for every measure."""

    at: int
    places: dict[int, int]
    columns: dict[str, array[Any]]


class History:
    """The last looks at the parts of a graph.

    >>> history = History()
    >>> history.of(7).rows_in
    []
    """

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque(maxlen=MOST_LOOKS)
        self._cells = 0
        self._last = 0.0

    def look(self, nodes: Mapping[int, NodeMetadata], at: float) -> None:
        """Keep what the parts do, unless that was done just now."""
        if at - self._last < DISTANCE:
            return
        self._last = at
        while self._looks and (len(self._looks) == MOST_LOOKS or self._cells > MOST_CELLS):
            self._cells -= _cells(self._looks.popleft())
        self._looks.append(_seen(nodes, at))
        self._cells += _cells(self._looks[-1])

    def of(self, node: int) -> NodeHistory:
        """What one part did, the oldest first."""
        seen = [look for look in self._looks if node in look.places]
        columns: dict[str, list[Any]] = {}
        for name in (*_NUMBERS, *_COUNTS):
            values = (look.columns[name][look.places[node]] for look in seen)
            columns[name] = [_told(name, value) for value in values]
        return NodeHistory(at=[look.at for look in seen], **columns)


def _cells(look: _Look) -> int:
    return len(look.places) * len(look.columns)


def _seen(nodes: Mapping[int, NodeMetadata], at: float) -> _Look:
    columns: dict[str, array[Any]] = {}
    for kind, names, nothing in (("d", _NUMBERS, float("nan")), ("q", _COUNTS, _NOTHING)):
        for name in names:
            values = (getattr(node, name) for node in nodes.values())
            columns[name] = array(kind, [nothing if v is None else v for v in values])
    places = {number: place for place, number in enumerate(nodes)}
    return _Look(round(at * 1000), places, columns)


def _told(name: str, value: float) -> float | None:
    """A value as it was, None where there was none."""
    nothing = value != value if name in _NUMBERS else value == _NOTHING
    return None if nothing else value
