"""What a run finds out about its sources and conditions, from what its tasks tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidemill.algebra.nodes import SourceKind
from tidemill.runtime.conditions import Conditions
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.nodes import GraphNodes
from tidemill.runtime.reports import Report
from tidemill.runtime.validity import Timing

_FEW_NODES = 256
_SHARES_EVERY = 64
"""Ticks between two looks at how many rows meet conditions, where there are many parts."""


class Findings:
    """Puts together what tasks have found."""

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering

    def note(self, reports: Sequence[Report], timings: Mapping[str, Timing]) -> None:
        """Take note of what tasks have seen of sources in a tick."""
        for report in reports:
            for source, found in report.found:
                self._gathering.of(source, timings[source].kind).take(found)

    def note_held(self, source: str, rows: int) -> None:
        """Take note of how many rows a relation that changes has now."""
        self._gathering.of(source, SourceKind.CHANGING).rows = rows

    def note_shares(self, nodes: GraphNodes, tick: int) -> None:
        """Take note of how many rows, or pairs of rows, have met conditions so far."""
        if len(nodes) > _FEW_NODES and tick % _SHARES_EVERY:
            return
        # Of rows that were counted in every partition it is not known how many there were.
        known = [node for node in nodes if len(node.children) < 2 or not nodes.is_copied(node)]
        progress = [nodes[node] for node in known]
        self._gathering.shares.update(Conditions(known).shares(progress))
