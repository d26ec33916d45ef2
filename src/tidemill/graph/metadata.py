"""What the parts of a running graph do: offered to whoever subscribes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from tidemill.graph.query_graph import Carried, QueryGraph
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.operator import Exec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.runtime.operators import NodeProgress
from tidemill.timeline import OPEN_END


class NodeMetadata(NamedTuple):
    """One part of the graph, as it stood after a tick.

    Rates are rows per second on the clock since an earlier look. `selectivity` is rows out by
    rows in, of those since then. The `watermark` is how far time has come in what it reads;
    None is the end of time.
    """

    id: int
    label: str
    inputs: tuple[int, ...]
    queries: tuple[str, ...]
    input_rate: float
    output_rate: float
    selectivity: float | None
    rows_in: int
    rows_out: int
    state_rows: int
    state_bytes: int
    seconds: float
    watermark: int | None
    window: int | None = None
    granularity: int | None = None


Listener = Callable[[Mapping[int, NodeMetadata]], None]


_Rows = tuple[int, int]
"""Rows in and out."""


@dataclass
class _Look:
    """What was seen, and when."""

    at: float = field(default_factory=time.monotonic)
    rows: dict[int, _Rows] = field(default_factory=dict)


class _Part(NamedTuple):
    """What stays true of a part: the ids of its inputs, its own, and how it is shown."""

    inputs: tuple[int, ...]
    id: int
    label: str


class Metadata:
    """Facts about the parts of a graph. Nothing is computed for those whom nobody asks about."""

    def __init__(self, graph: QueryGraph) -> None:
        self._graph = graph
        self._numbers = count()
        self._known: dict[Exec, _Part] = {}
        self._inherited: dict[Exec, int] = {}
        graph.after_revision.append(self._inherit)

    def _inherit(self, carried: Carried) -> None:
        """A part that goes on in the place of another, as at another size, is still the same."""
        nodes = self._graph.run.nodes
        for new, old in carried.items():
            if new in nodes and old not in nodes:
                known = self._known.pop(old, None)
                number = self._inherited.pop(old, None) if known is None else known.id
                if number is not None:
                    self._inherited[new] = number
        self._inherited = {node: n for node, n in self._inherited.items() if node in nodes}

    def subscribe(
        self, listener: Listener, every: int = 1, over: float = 0.0
    ) -> Callable[[], None]:
        """Tell a listener about all parts, after every so many ticks; returns how to stop that.

        Rates are those since the look before, or if that is longer, `over` so many seconds.
        """
        look = self.looking(over)

        def tell() -> None:
            if self._graph.run.ticks % every == 0:
                listener(look())

        return self._graph.after_each_tick(tell)

    def looking(self, over: float = 0.0) -> Callable[[], dict[int, NodeMetadata]]:
        """How to look at all parts again and again; rates are as in `subscribe`."""
        looks = deque([_Look()])

        def look() -> dict[int, NodeMetadata]:
            found = self._since(looks[0])
            looks.append(_Look(rows={id: (n.rows_in, n.rows_out) for id, n in found.items()}))
            while len(looks) > 1 and looks[-1].at - looks[1].at >= over:
                looks.popleft()
            return found

        return look

    def now(self) -> dict[int, NodeMetadata]:
        """All parts as they stand, with rates from the beginning of the graph."""
        return self._since(_Look(at=self._began))

    def id_of(self, node: Exec) -> int:
        """The number under which a part of the graph is told of."""
        return self._part(node).id

    @property
    def _began(self) -> float:
        return time.monotonic() - max(self._graph.run.seconds, 1e-9)

    def _since(self, look: _Look) -> dict[int, NodeMetadata]:
        seconds = max(time.monotonic() - look.at, 1e-9)
        nodes, uses = self._graph.run.nodes, self._graph.uses
        found = {}
        for node, progress in nodes.items():
            part = self._part(node)
            before = look.rows.get(part.id, (0, 0))
            facts = _facts(node, part, progress, before, seconds, uses.queries(node))
            found[part.id] = facts
        if len(self._known) > 2 * len(nodes):
            self._known = {node: part for node, part in self._known.items() if node in nodes}
        return found

    def _part(self, node: Exec) -> _Part:
        part = self._known.get(node)
        if part is None:
            inputs = (self._part(child).id for child in node.children)
            number = self._inherited.pop(node, None)
            number = next(self._numbers) if number is None else number
            part = self._known[node] = _Part(tuple(inputs), number, node.label)
        return part


def _facts(
    node: Exec,
    part: _Part,
    progress: NodeProgress,
    before: _Rows,
    seconds: float,
    users: tuple[str, ...],
) -> NodeMetadata:
    rows_in, mark = sum(progress.rows_in), max(progress.reached, progress.watermark)
    came, went = rows_in - before[0], progress.rows_out - before[1]
    return NodeMetadata(
        part.id,
        part.label,
        part.inputs,
        users,
        came / seconds,
        went / seconds,
        went / came if came else None,
        rows_in,
        progress.rows_out,
        progress.state_rows,
        progress.state_bytes,
        progress.seconds,
        None if mark == OPEN_END else mark,
        _window(node, mark),
        node.size_at(mark) if isinstance(node, GranularityExec) else None,
    )


def _window(node: Exec, mark: int) -> int | None:
    return node.size_at(mark) if isinstance(node, TimeWindowExec | CountWindowExec) else None
