"""What is still kept of rows that came before sizes were changed.

Rows keep the size that was in force when they started. So a window that becomes smaller at t
frees nothing before t + the new size, and everything only at t + the old one (PIPES, 23.2.1). If
streams have become faster meanwhile, new rows come on top of old ones: a graph that is within its
bounds in the long run may break them on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tidemill.graph.manager.estimates import GraphEstimates, knob_of
from tidemill.physical.operator import Exec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.runtime.graph import NodeProgress


class Transition:
    """The rows that operators keep now, and for how long the last of them stay.

    What is kept of a window is taken to go evenly until then. It fills with new rows in the time of
    their size; that is when most is kept. An operator over several windows keeps as much of each.
    """

    def __init__(
        self, estimates: GraphEstimates, nodes: Mapping[Exec, NodeProgress], now: int
    ) -> None:
        ends = _last_ends(nodes)
        self._names = list(ends)
        self._drains = np.array([max(end - now, 1) for end in ends.values()], float)
        kept = list(_kept(estimates, nodes, {name: at for at, name in enumerate(ends)}))
        self._kept = np.array([size for size, _ in kept], float)
        width = max((len(numbers) for _, numbers in kept), default=0)
        # Where an operator has fewer windows than others, the last number stands for none.
        filled = [numbers + [len(ends)] * (width - len(numbers)) for _, numbers in kept]
        self._windows = np.array(filled, np.int64).reshape(len(kept), width)

    def left(self, sizes: Mapping[str, int]) -> float:
        """Bytes of old rows that are left when operators have filled with rows of these sizes."""
        if not len(self._kept):
            return 0.0
        new = np.array([sizes.get(name, 0) for name in self._names], float)
        old = np.append(np.maximum(0.0, 1 - new / self._drains), np.nan)
        return float((self._kept * np.nanmean(old[self._windows], axis=1)).sum())


def _last_ends(nodes: Mapping[Exec, NodeProgress]) -> dict[str, int]:
    """For every window of time that can change, the end of the last row that has come out of it."""
    ends: dict[str, int] = {}
    for node, progress in nodes.items():
        if isinstance(node, TimeWindowExec) and (knob := knob_of(node)):
            ends[knob] = max(ends.get(knob, 0), progress.latest_end)
    return ends


def _kept(
    estimates: GraphEstimates, nodes: Mapping[Exec, NodeProgress], numbers: Mapping[str, int]
) -> Iterator[tuple[int, list[int]]]:
    """What operators keep of windows that can change, and the numbers of these."""
    for node, part in estimates.parts.items():
        seen = nodes.get(node)
        if seen is not None and seen.state_bytes:
            windows = [numbers[name] for name in part.knobs if name in numbers]
            if windows:
                yield seen.state_bytes, windows
