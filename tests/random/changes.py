"""Random changes of the sizes in a plan."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemill.algebra.adjusting import Changes
from tidemill.algebra.nodes import Adjustable, CountWindow, Granularity, TimeWindow
from tidemill.algebra.plan import Plan
from tidemill.algebra.whole_rows import has_whole_rows

_LATEST = 24  # few rows come later


def with_changes(plan: Plan, random: Random, coarsen: bool = True) -> Plan:
    """The plan with changes of sizes where they have a meaning; with more granularities."""

    def changed(node: Plan) -> Plan:
        if not isinstance(node, Adjustable) or node.first is None or random.random() < 0.25:
            return node
        if isinstance(node, Granularity) and not has_whole_rows(node.child):
            return node
        return replace(node, changes=_changes(node, random), bounds=None)

    def coarsened(node: Plan) -> Plan:
        node = changed(node)
        if isinstance(node, TimeWindow) and random.random() < 0.25:
            return changed(Granularity(node, random.randint(1, 4)))
        return node

    return plan.rewrite(coarsened if coarsen else changed)


def _changes(node: Adjustable, random: Random) -> Changes:
    largest = 6 if isinstance(node, CountWindow) else 12
    instants = sorted(random.sample(range(_LATEST), random.randint(1, 3)))
    if not isinstance(node, Granularity):
        return tuple((at, random.randint(1, largest)) for at in instants)
    found: list[tuple[int, int]] = []
    granule = node.granule
    for at in instants:
        new = random.randint(1, largest)
        # To a finer granule only at an instant of the coarser one.
        at = -(-at // granule) * granule if new < granule else at
        if not found or found[-1][0] < at:
            found.append((at, new))
            granule = new
    return tuple(found)
