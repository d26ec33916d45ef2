"""What every part of a graph that runs on Spark has done, over all partitions."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.fragments import Mode
from tidemill.fragments.stages import EdgeExec, is_native
from tidemill.fragments.staging import Staging
from tidemill.physical.operator import Exec
from tidemill.runtime.graph import NodeProgress, nodes_of
from tidemill.runtime.spark.findings import Report, level_totals
from tidemill.runtime.spark.native import native_rows
from tidemill.timeline import BEGIN, OPEN_END


@dataclass(frozen=True)
class Streams:
    """The watermarks of streams, the ends of their newest rows, and which parts have run."""

    watermarks: Mapping[str, int]
    newest: Mapping[str, int]
    ran: Container[Plan]


def node_progress(
    staging: Staging,
    totals: Mapping[Exec, NodeProgress],
    streams: Streams,
    partitions: int,
) -> dict[Exec, NodeProgress]:
    """By part of plans, what it has done; `totals` are those of operators of stages."""
    return _Nodes(staging, totals, streams, partitions).all()


def operator_totals(staging: Staging, reports: Sequence[Report]) -> dict[Exec, NodeProgress]:
    """What the operators of all stages have done, in all partitions together."""
    by_level = level_totals(reports)
    found: dict[Exec, NodeProgress] = {}
    for stage in staging.staged.stages:
        nodes = nodes_of(*(root for _, root in stage.outputs))
        found |= zip(nodes, by_level.get(stage.level, ()), strict=False)
    return found


class _Nodes:
    def __init__(
        self,
        staging: Staging,
        totals: Mapping[Exec, NodeProgress],
        streams: Streams,
        partitions: int,
    ) -> None:
        self._staging = staging
        self._totals = totals
        self._streams = streams
        self._partitions = partitions

    def all(self) -> dict[Exec, NodeProgress]:
        return {node: self._of(node) for node in self._staging.placed if isinstance(node, Exec)}

    def _of(self, node: Exec) -> NodeProgress:
        if is_native(node):
            return self._native(node)
        whole = NodeProgress(node.label)
        operators = [self._totals[o] for o in self._operators(node) if o in self._totals]
        if not operators:
            return whole
        top, *below = operators
        for each in below:
            whole.state_rows += each.state_rows
            whole.state_bytes += each.state_bytes
            whole.seconds += each.seconds
        # What one part has become takes in what the lowest operator does, and gives what the top
        # one gives.
        whole.merge(top)
        whole.watermark, whole.rows_in = top.watermark, operators[-1].rows_in
        return whole

    def _operators(self, node: Exec) -> Iterator[Exec]:
        """The operators that a part has become, from the top."""
        below = {self._staging.placed[child].plan for child in node.children}
        waiting: list[Plan] = [self._staging.placed[node].plan]
        while waiting:
            plan = waiting.pop()
            if plan not in below and not is_native(plan):
                if isinstance(plan, Exec) and plan in self._staging.locals:
                    yield self._staging.locals[plan]
                waiting.extend(plan.children)

    def _native(self, node: Exec) -> NodeProgress:
        """Spark does it: what comes out is what reaches the operators above."""
        rows = native_rows(node)
        source = rows.source.scan
        if node not in self._streams.ran:
            return NodeProgress(node.label)
        ends = mark = OPEN_END
        if source.kind is SourceKind.STREAM:
            mark = self._streams.watermarks.get(source.source, BEGIN)
            newest = self._streams.newest.get(source.source, BEGIN)
            assert rows.duration is not None
            ends = rows.duration.latest_end(newest)
        # Of what goes straight to a sink it is only known that something has come.
        rows_out = self._reached(node) or int(ends > BEGIN)
        return NodeProgress(node.label, rows_out, watermark=mark, latest_end=ends)

    def _reached(self, node: Exec) -> int:
        """Of the rows of a native part, how many came to an edge of it."""
        for edge in self._staging.staged.edges:
            leaf = EdgeExec(edge.tag, edge.schema)
            if edge.producer == node and leaf in self._totals:
                copies = self._partitions if edge.mode is Mode.BROADCAST else 1
                return self._totals[leaf].rows_out // copies
        return 0
