"""Granules that change: when they may, and what has to follow.

Time becomes only coarser downstream: instants of a granularity must be instants of those below
it. Otherwise results would claim to be exact at instants that are unknown below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from tidemill.algebra.plan import Plan
from tidemill.errors import TidemillError
from tidemill.graph.quality.bounds import Granules, Quality
from tidemill.physical.operators.granularity import GranularityExec

Change = tuple[int, int]


def next_instant(granule: int, new: int, at: int) -> int:
    """The first instant from `at` on at which a granule may become another.

    A coarser one may begin at any instant; a finer one only at an instant of the coarser. Else
    rows would start before others that came earlier.

    >>> next_instant(10, 2, 13), next_instant(2, 10, 13)
    (20, 13)
    """
    return at if new >= granule else -(-at // granule) * granule


def synchronised(
    plans: Iterable[Plan], changes: Mapping[str, Change], allowed: Mapping[str, Quality]
) -> dict[str, Change]:
    """The changes of granules, and those that they need downstream.

    `allowed` is what each knob may be set to. Fails where nothing that is allowed would do.
    """
    found = dict(changes)
    for below, above in _pairs(plans):
        if below.knob in found or above.knob in found:
            _synchronise(below, above, found, allowed)
    return found


def _synchronise(
    below: GranularityExec,
    above: GranularityExec,
    changes: dict[str, Change],
    allowed: Mapping[str, Quality],
) -> None:
    at = max(changes[node.knob][0] for node in (below, above) if node.knob in changes)
    fine, coarse = _granule(below, changes, at), _granule(above, changes, at)
    if coarse % fine == 0:
        return
    quality = allowed.get(above.knob)
    known = quality.allowed if isinstance(quality, Granules) else frozenset()
    fitting = [granule for granule in known if granule % fine == 0 and granule >= coarse]
    if above.knob in changes or not fitting:
        raise TidemillError(
            f"a granule of {fine} does not divide the granule of {coarse} above it",
            help=f"choose a granule that divides {coarse}, or a multiple of {fine} above it",
        )
    changes[above.knob] = (at, min(fitting))


def _granule(node: GranularityExec, changes: Mapping[str, Change], at: int) -> int:
    if node.knob in changes:
        return changes[node.knob][1]
    granule = node.size_at(at)
    assert granule is not None
    return granule


def _pairs(plans: Iterable[Plan]) -> Iterable[tuple[GranularityExec, GranularityExec]]:
    """Granularities, each with the next ones downstream of it; from below."""
    found: dict[tuple[GranularityExec, GranularityExec], None] = {}

    def last_ones(node: Plan, inputs: list[list[GranularityExec]]) -> list[GranularityExec]:
        """The granularities of a part that have no other one downstream in it."""
        below = list(dict.fromkeys(chain.from_iterable(inputs)))
        if not isinstance(node, GranularityExec):
            return below
        found.update(dict.fromkeys((each, node) for each in below))
        return [node]

    for plan in plans:
        plan.fold(last_ones)
    return found
