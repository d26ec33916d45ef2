"""All that a run finds out about its sources and conditions, from what its tasks tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidemill.algebra.nodes import SourceKind
from tidemill.optimize.statistics import Statistics
from tidemill.runtime.operator_totals import GraphNodes
from tidemill.runtime.reports import TaskReport
from tidemill.runtime.statistics.selectivities import measured_selectivities
from tidemill.runtime.statistics.sources import SourceStatistics
from tidemill.runtime.validity import Timing

_FEW_NODES = 256
_SHARES_EVERY = 64
"""Ticks between two looks at how many rows meet conditions, where there are many parts."""


@dataclass
class Gathering:
    """What is known now; it goes on while the run does.

    `shares` are those of rows or pairs that meet a condition, under the names of the sources.
    """

    sources: dict[str, SourceStatistics] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)

    def note(self, reports: Sequence[TaskReport], timings: Mapping[str, Timing]) -> None:
        """Take note of what tasks have seen of sources in a tick."""
        for report in reports:
            for source, sample in report.found:
                self._of(source, timings[source].kind).take(sample)

    def note_held(self, source: str, rows: int) -> None:
        """Take note of how many rows a relation that changes has now."""
        self._of(source, SourceKind.CHANGING).rows = rows

    def note_shares(self, nodes: GraphNodes, tick: int) -> None:
        """Take note of how many rows, or pairs of rows, have met conditions so far."""
        if len(nodes) > _FEW_NODES and tick % _SHARES_EVERY:
            return
        # Of rows that were counted in every partition it is not known how many there were.
        known = (node for node in nodes if len(node.children) < 2 or not nodes.is_copied(node))
        self.shares.update(measured_selectivities({node: nodes[node] for node in known}))

    def _of(self, source: str, kind: SourceKind) -> SourceStatistics:
        return self.sources.setdefault(source, SourceStatistics(kind))

    @property
    def statistics(self) -> Statistics:
        """For the planner, under the names of the sources."""
        known = {name: each.statistics for name, each in list(self.sources.items()) if each.rows}
        return Statistics(known, dict(self.shares))
