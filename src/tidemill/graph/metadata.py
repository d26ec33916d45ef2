"""What the parts of a running graph do: offered to whoever subscribes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import count
from typing import NamedTuple

from tidemill.graph.query_graph import Carried, QueryGraph
from tidemill.physical.operator import Exec
from tidemill.physical.operators.count_window import CountWindowExec
from tidemill.physical.operators.granularity import GranularityExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.rate_meter import RateMeter
from tidemill.timeline import OPEN_END


class NodeMetadata(NamedTuple):
    """One part of the graph, as it stood after a tick, and what its operator has done.

    Rates are rows per second on the clock since an earlier look. `selectivity` is rows out by
    rows in, of those since then.
    """

    id: int
    label: str
    inputs: tuple[int, ...]
    queries: tuple[str, ...]
    progress: OperatorProgress
    input_rate: float
    output_rate: float
    selectivity: float | None
    window: int | None = None
    granularity: int | None = None

    @property
    def rows_in(self) -> int:
        return self.progress.rows_in

    @property
    def rows_out(self) -> int:
        return self.progress.rows_out

    @property
    def state_rows(self) -> int:
        return self.progress.state_rows

    @property
    def state_bytes(self) -> int:
        return self.progress.state_bytes

    @property
    def seconds(self) -> float:
        return self.progress.seconds

    @property
    def watermark(self) -> int | None:
        """How far time has come in what it reads; None is the end of time."""
        mark = self.progress.time
        return None if mark == OPEN_END else mark


Listener = Callable[[Mapping[int, NodeMetadata]], None]


class _Meters:
    """Rows in and out of every part, over some seconds on the clock."""

    def __init__(self, over: float, began: float) -> None:
        self._over = over
        self._last = began
        self._known: dict[int, tuple[RateMeter, RateMeter]] = {}

    def note(self, parts: Mapping[int, OperatorProgress]) -> dict[int, Rates]:
        """What came and went since the look before, or in the window if that is longer."""
        now = max(time.monotonic(), self._last + 1e-6)
        self._known = {number: self._known.get(number) or self._new() for number in parts}
        self._last = now
        return {
            number: _rates(*self._known[number], progress, now)
            for number, progress in parts.items()
        }

    def _new(self) -> tuple[RateMeter, RateMeter]:
        """A part that was not there has done nothing before."""
        meters = RateMeter(self._over), RateMeter(self._over)
        for meter in meters:
            meter.begin(self._last)
        return meters


class Rates(NamedTuple):
    """Rows per second that come and go, and how many go of one that comes."""

    input_rate: float
    output_rate: float
    selectivity: float | None


def _rates(came: RateMeter, went: RateMeter, progress: OperatorProgress, now: float) -> Rates:
    came.note(progress.rows_in, now)
    went.note(progress.rows_out, now)
    (rows_in, seconds), (rows_out, _) = came.since(), went.since()
    share = rows_out / rows_in if rows_in else None
    return Rates(rows_in / seconds, rows_out / seconds, share)


class _Part(NamedTuple):
    """What stays true of a part: its id, how it is shown, and the ids of its inputs."""

    id: int
    label: str
    inputs: tuple[int, ...]


class Metadata:
    """Facts about the parts of a graph. Nothing is computed unless somebody subscribes to it."""

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
        """Tell a listener about all parts every few ticks; returns how to stop that.

        Rates are those since the last call, or over `over` seconds if that is longer.
        """
        look = self.looking(over)

        def tell() -> None:
            if self._graph.run.ticks % every == 0:
                listener(look())

        return self._graph.after_each_tick(tell)

    def looking(self, over: float = 0.0) -> Callable[[], dict[int, NodeMetadata]]:
        """How to look at all parts again and again; rates are as in `subscribe`."""
        meters = _Meters(over, time.monotonic())
        return lambda: self._since(meters)

    def now(self) -> dict[int, NodeMetadata]:
        """All parts as they stand, with rates from the beginning of the graph."""
        began = time.monotonic() - self._graph.run.seconds
        return self._since(_Meters(0.0, began))

    def id_of(self, node: Exec) -> int:
        """The number by which a part of the graph is reported."""
        return self._part(node).id

    def _since(self, meters: _Meters) -> dict[int, NodeMetadata]:
        nodes, uses = self._graph.run.nodes, self._graph.uses
        parts = {node: self._part(node) for node in nodes}
        rates = meters.note({parts[node].id: progress for node, progress in nodes.items()})
        if len(self._known) > 2 * len(nodes):
            self._known = parts
        return {
            part.id: _metadata(node, part, nodes[node], uses.queries(node), rates[part.id])
            for node, part in parts.items()
        }

    def _part(self, node: Exec) -> _Part:
        part = self._known.get(node)
        if part is None:
            inputs = (self._part(child).id for child in node.children)
            number = self._inherited.pop(node, None)
            number = next(self._numbers) if number is None else number
            part = self._known[node] = _Part(number, node.label, tuple(inputs))
        return part


def _metadata(
    node: Exec, part: _Part, progress: OperatorProgress, users: tuple[str, ...], rates: Rates
) -> NodeMetadata:
    mark = progress.time
    window = node.size_at(mark) if isinstance(node, TimeWindowExec | CountWindowExec) else None
    granule = node.size_at(mark) if isinstance(node, GranularityExec) else None
    return NodeMetadata(*part, users, progress, *rates, window, granule)
