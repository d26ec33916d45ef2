"""What is still kept of rows that came before sizes were changed.

Rows keep the size that was in force when they started. So a window that becomes smaller at t
frees nothing before t + the new size, and everything only at t + the old one (PIPES, 23.2.1). If
streams have become faster meanwhile, new rows come on top of old ones: a graph that is within its
bounds in the long run may break them on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tidemill.graph.manager.estimates import GraphEstimates
from tidemill.physical.operator import Exec
from tidemill.runtime.operator_progress import OperatorProgress

History = Sequence[tuple[int, int]]
"""From which instants on rows had which size."""


class Transition:
    """The rows that operators keep now, and what is left of them later, if rates stay.

    An operator over several windows is taken to keep as much of each. It has filled with new rows
    in the time of their size; that is when most is kept.
    """

    def __init__(
        self,
        estimates: GraphEstimates,
        nodes: Mapping[Exec, OperatorProgress],
        histories: Mapping[str, History],
        now: int,
    ) -> None:
        self._histories = {n: histories[n] for n in estimates.ranges if n in histories}
        self._now = now
        numbers = {name: at for at, name in enumerate(self._histories)}
        kept = list(_kept(estimates, nodes, numbers))
        self._kept = np.array([size for size, _ in kept], float)
        width = max((len(windows) for _, windows in kept), default=0)
        # Where an operator has fewer windows than others, the last number stands for none.
        filled = [windows + [len(numbers)] * (width - len(windows)) for _, windows in kept]
        self._windows = np.array(filled, np.int64).reshape(len(kept), width)

    def left(self, sizes: Mapping[str, int]) -> float:
        """Bytes of old rows that are left when operators have filled with rows of these sizes."""
        if not len(self._kept):
            return 0.0
        shares = (
            share_left(history, self._now, sizes.get(name, 0))
            for name, history in self._histories.items()
        )
        old = np.array([*shares, np.nan])
        return float((self._kept * np.nanmean(old[self._windows], axis=1)).sum())


def share_left(history: History, now: int, later: int) -> float:
    """Of the rows of a window that hold now, the share that still holds so much later.

    >>> share_left([(0, 100)], now=200, later=25), share_left([(0, 100), (150, 20)], 160, 20)
    (0.75, 0.7)
    """
    held = left = 0
    ends = [*(since for since, _ in history[1:]), now]
    for (since, size), end in zip(history, ends, strict=True):
        until = min(end, now)
        held += max(0, until - max(since, now - size))
        left += max(0, until - max(since, now + later - size))
    return left / held if held else 0.0


def _kept(
    estimates: GraphEstimates, nodes: Mapping[Exec, OperatorProgress], numbers: Mapping[str, int]
) -> Iterator[tuple[int, list[int]]]:
    """What operators keep of windows that can change, and the numbers of these."""
    for node, part in estimates.parts.items():
        seen = nodes.get(node)
        if seen is not None and seen.state_bytes:
            windows = [numbers[name] for name in part.knobs if name in numbers]
            if windows:
                yield seen.state_bytes, windows
