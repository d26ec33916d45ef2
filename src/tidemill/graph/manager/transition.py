"""What is still kept of rows that came before sizes were changed.

Rows keep the size that was in force when they started. So a window that becomes smaller at t
frees nothing before t + the new size, and everything only at t + the old one (PIPES, 23.2.1). If
streams have become faster meanwhile, new rows come on top of old ones: a graph that is within its
bounds in the long run may break them on the way.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidemill.graph.manager.estimates import GraphEstimates, Part, knob_of
from tidemill.physical.operator import Exec
from tidemill.runtime.graph import NodeProgress


class Transition:
    """The rows that operators keep now, and for how long the last of them stay.

    What an operator keeps is taken to go evenly until then. It fills with new rows in the time of
    their size; that is when most is kept.
    """

    def __init__(
        self, estimates: GraphEstimates, nodes: Mapping[Exec, NodeProgress], now: int
    ) -> None:
        self._names = {name: number for number, name in enumerate(estimates.sizes)}
        last = _last_ends(estimates, nodes)
        found = [
            (progress.state_bytes, part.span, _drain(part, last, now), part.knobs)
            for part, progress in _keeping(estimates, nodes)
        ]
        self._kept = np.array([kept for kept, _, _, _ in found], float)
        self._spans = np.array([span for _, span, _, _ in found], float)
        self._drains = np.maximum(np.array([drain for _, _, drain, _ in found], float), 1.0)
        self._knobs = _padded([knobs for _, _, _, knobs in found], self._names)

    def left(self, sizes: Mapping[str, int]) -> float:
        """Bytes of old rows that are left when operators have filled with rows of these sizes."""
        if not len(self._kept):
            return 0.0
        by_knob = np.array([*(sizes.get(name, 0) for name in self._names), np.nan], float)
        filled = np.maximum(self._spans, np.nanmean(by_knob[self._knobs], axis=1))
        return float((self._kept * np.maximum(0.0, 1 - filled / self._drains)).sum())


def _keeping(
    estimates: GraphEstimates, nodes: Mapping[Exec, NodeProgress]
) -> list[tuple[Part, NodeProgress]]:
    """Operators that keep rows whose sizes can change."""
    pairs = ((part, nodes.get(node)) for node, part in estimates.parts.items())
    return [(p, seen) for p, seen in pairs if p.knobs and seen is not None and seen.state_bytes]


def _last_ends(estimates: GraphEstimates, nodes: Mapping[Exec, NodeProgress]) -> dict[str, int]:
    """For every window that can change, the end of the last row that has come out of it."""
    ends: dict[str, int] = {}
    for node, progress in nodes.items():
        knob = knob_of(node)
        if knob in estimates.sizes:
            ends[knob] = max(ends.get(knob, 0), progress.latest_end)
    return ends


def _drain(part: Part, ends: Mapping[str, int], now: int) -> float:
    """How long the last row stays that an operator has now."""
    return max(part.span, max(ends.get(name, 0) for name in part.knobs) - now)


def _padded(
    knobs: list[frozenset[str]], numbers: Mapping[str, int]
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """The numbers of knobs, line by line; the last number is that of none."""
    width = max(map(len, knobs), default=0)
    rows = [[numbers[name] for name in each] for each in knobs]
    filled = [row + [len(numbers)] * (width - len(row)) for row in rows]
    return np.array(filled, np.int64).reshape(len(knobs), width)
