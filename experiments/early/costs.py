"""Unit-time costs of the plans by the text's formulas (equations 15 to 26, Appendix A).

They describe a system that treats rows one by one. Ours is in `ours`; these are for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tidemill.optimize.early.plans import Costs, Masks

# A cost as a sum over kinds of work: one number per kind.
Work: TypeAlias = npt.NDArray[np.float64]

# Every row is processed when it comes and again when it leaves.
_COME_AND_LEAVE = 2.0


@dataclass(frozen=True)
class Stream:
    """An input: rows per unit of time, rows in its window, groups, and join selectivity.

    >>> stream = Stream(rate=300, window=5000, groups=150, selectivity=0.1)
    >>> stream.set_size, stream.window_matches, stream.set_matches
    (1500.0, 500.0, 150)
    """

    rate: float
    window: float
    groups: float
    selectivity: float

    @property
    def set_size(self) -> float:
        """Groups of the early aggregate (α_i)."""
        return min(self.window, self.groups / self.selectivity)

    @property
    def window_matches(self) -> float:
        """Partners of a row in the window (m_i)."""
        return self.window * self.selectivity

    @property
    def set_matches(self) -> float:
        """Partners of a row among the groups of the early aggregate (n_i)."""
        return min(self.window * self.selectivity, self.groups)

    def buckets(self, largest: float) -> float:
        """Size of the hash table on the join columns (B_i)."""
        return min(1 / self.selectivity, largest)


@dataclass(frozen=True)
class Tuning:
    """What the formulas leave to measurement, and the price of memory.

    `probe` (P) is per row looked at in a window or set, `update` (U) per change of a window,
    `group` (U_g) per group looked at while a set is changed.
    """

    probe: float = 1.0
    update: float = 1.0
    group: float = 1.0
    byte: float = 0.0
    row_bytes: float = 32.0
    group_bytes: float = 32.0


@dataclass(frozen=True)
class Terms:
    """What the generic formulas ask of an input: numbers of rows, and work per row."""

    rate: float
    window_matches: float
    set_matches: float
    update_window: Work
    match_window: Work
    match_set: Work
    update_set: Work


def generic_work(inputs: Sequence[Terms], update_output: Work, masks: Masks) -> Work:
    """Equations 15 to 18 for any number of inputs: work by plan and kind.

    A new row probes the other inputs in turn; each probe is done once for every partial match.
    """
    total = np.zeros((len(masks), len(update_output)))
    for own, source in enumerate(inputs):
        work = source.update_window + masks[:, own, None] * source.update_set
        matches = np.ones((len(masks), 1))
        for other, probed in enumerate(inputs):
            if other == own:
                continue
            early = masks[:, other, None]
            work = work + matches * np.where(early, probed.match_set, probed.match_window)
            matches = matches * np.where(early, probed.set_matches, probed.window_matches)
        total += source.rate * (work + matches * update_output)
    return total


def nested_loop_work(streams: Sequence[Stream], masks: Masks, largest_table: float) -> Work:
    """Equations 19 to 22 as coefficients of P, U and U_g, with the indices of 20 put right."""
    return _join_work(streams, masks, largest_table, hashed=False)


def hash_work(streams: Sequence[Stream], masks: Masks, largest_table: float) -> Work:
    """Equations 23 to 26 as coefficients of P, U and U_g.

    >>> from tidemill.optimize.early.plans import all_masks
    >>> both = [Stream(300, 5000, 150, 0.1), Stream(300, 5000, 1, 0.1)]
    >>> hash_work(both, all_masks([True, True]), 1021)[0].tolist()
    [600000.0, 1200.0, 600000.0]
    """
    return _join_work(streams, masks, largest_table, hashed=True)


def printed_equation_20(first: Stream, second: Stream, largest_table: float) -> Work:
    """Equation 20 as printed, for the plan that aggregates the first input early.

    It swaps two hash tables: the early set is found through the result's, and the result through
    the second input's.
    """
    streams = (first, second)
    work = nested_loop_work(streams, np.array([[True, False]]), largest_table)[0]
    result, own, other = (
        output_buckets(streams, largest_table),
        first.buckets(largest_table),
        second.buckets(largest_table),
    )
    swapped = first.set_size * (1 / result - 1 / own)
    swapped += second.window_matches * output_size(streams) * (1 / other - 1 / result)
    return np.asarray(work + first.rate * _work(group=swapped))


def output_size(streams: Sequence[Stream]) -> float:
    """Groups of the result (α): its largest possible number."""
    return float(np.prod([min(stream.window, stream.groups) for stream in streams]))


def output_buckets(streams: Sequence[Stream], largest_table: float) -> float:
    """Size of the hash table of the result (B_g): built on the groups of the first input only."""
    return min(streams[0].groups, largest_table)


def memory(streams: Sequence[Stream], masks: Masks, tuning: Tuning) -> Costs:
    """Bytes of windows and aggregation sets, the result's included; the text leaves it open."""
    windows = tuning.row_bytes * sum(stream.window for stream in streams)
    sets = masks @ np.array([stream.set_size for stream in streams])
    return np.asarray(windows + tuning.group_bytes * (sets + output_size(streams)))


def plan_costs(work: Work, memory: Costs, tuning: Tuning) -> Costs:
    """One number per plan: the work done in a unit of time, and the memory held."""
    done = work @ np.array([tuning.probe, tuning.update, tuning.group])
    return np.asarray(done + tuning.byte * memory)


def _join_work(
    streams: Sequence[Stream], masks: Masks, largest_table: float, *, hashed: bool
) -> Work:
    """The generic formulas with the work of one way to join; sets are hashed in both."""
    terms = [_terms(stream, largest_table, hashed=hashed) for stream in streams]
    per_bucket = output_size(streams) / output_buckets(streams, largest_table)
    return generic_work(terms, _work(group=per_bucket), masks)


def _terms(stream: Stream, largest_table: float, *, hashed: bool) -> Terms:
    buckets = stream.buckets(largest_table)
    scanned = buckets if hashed else 1.0
    return Terms(
        rate=stream.rate,
        window_matches=stream.window_matches,
        set_matches=stream.set_matches,
        update_window=_work(update=1.0),
        match_window=_work(probe=stream.window / scanned),
        match_set=_work(probe=stream.set_size / scanned),
        update_set=_work(group=stream.set_size / buckets),
    )


def _work(probe: float = 0.0, update: float = 0.0, group: float = 0.0) -> Work:
    return _COME_AND_LEAVE * np.array([probe, update, group])
