"""Rows that flow through our own operators in each plan, and what they cost.

An early aggregate of ours writes a *version* of a group whenever rows come or leave, the join
treats versions like any rows that hold for a while, and the late aggregate weighs what it gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.discrete import grouped
from tidemill.optimize.early.choice import Choice, choose
from tidemill.optimize.early.plans import Costs, Masks

# Just below 1, of which a logarithm can be taken.
_ALMOST_ALL = 1 - 1e-12


@dataclass(frozen=True)
class JoinInput:
    """An input of the join, its window included.

    `keys` are the distinct values of its join columns, `groups` those of the columns that it adds
    to the query's grouping (1: none).

    >>> side = JoinInput(Characteristics(distance=1, length=1000), keys=10)
    >>> side.early.rate, side.early.live_rows  # a start and an end change a group of the ten
    (1.8..., 10.0)
    """

    stream: Characteristics
    keys: float
    groups: float = 1.0

    @property
    def early(self) -> Characteristics:
        """The versions that an early aggregate makes of it."""
        return grouped(self.stream, self.keys * self.groups)


@dataclass(frozen=True)
class Constants:
    """Cost per row: into an early aggregate, into and out of the join, into the late aggregate.

    `byte` is the price of a byte of state, in the same unit; a row of state takes `row_bytes`.
    """

    aggregate: float = 1.0
    probe: float = 1.0
    join: float = 0.5
    late: float = 1.0
    byte: float = 0.0
    row_bytes: float = 48.0


@dataclass(frozen=True)
class Rows:
    """By plan: rows per instant into each part, rows the join makes, rows kept as state."""

    aggregate: Costs
    probe: Costs
    join: Costs
    late: Costs
    state: Costs

    def cost(self, constants: Constants) -> Costs:
        """One number per plan."""
        work = constants.aggregate * self.aggregate + constants.probe * self.probe
        work = work + constants.join * self.join + constants.late * self.late
        return np.asarray(work + constants.byte * constants.row_bytes * self.state)


def plan_rows(inputs: Sequence[JoinInput], masks: Masks, selectivity: float | None = None) -> Rows:
    """Rows through the parts of each plan.

    `selectivity` is the share of all combinations of rows that match; by default that of a join
    on one attribute whose values are as likely as each other.
    """
    share = common_selectivity(inputs) if selectivity is None else selectivity
    granule = min(side.stream.granularity for side in inputs)
    streams, versions = [side.stream for side in inputs], [side.early for side in inputs]
    rate = np.where(masks, *(np.array([s.rate for s in part]) for part in (versions, streams)))
    live = np.where(masks, *(np.array([s.live_rows for s in part]) for part in (versions, streams)))
    made = _combinations(rate, live, granule) * share
    windows = np.array([stream.live_rows for stream in streams])
    return Rows(
        aggregate=masks @ np.array([stream.rate for stream in streams]),
        probe=rate.sum(axis=1),
        join=made + _intermediate(rate, live, share),
        late=made,
        # The join keeps its inputs, an early aggregate its rows, the late one those of the join.
        state=live.sum(axis=1) + masks @ windows + share * live.prod(axis=1),
    )


def choose_plan(
    inputs: Sequence[JoinInput],
    constants: Constants | None = None,
    selectivity: float | None = None,
    allowed: Sequence[bool] | None = None,
) -> Choice:
    """The cheapest plan for our operators.

    >>> stream = Characteristics(distance=1, length=5000)
    >>> choose_plan([JoinInput(stream, keys=10), JoinInput(stream, keys=10, groups=1e7)]).mask
    (True, False)
    """
    everywhere = [True] * len(inputs) if allowed is None else allowed
    price = partial(_costs, inputs, constants or Constants(), selectivity)
    return choose(price, everywhere)


def common_selectivity(inputs: Sequence[JoinInput]) -> float:
    """The share of combinations that agree in one common attribute."""
    keys = [side.keys for side in inputs]
    return min(keys) / float(np.prod(keys))


def _costs(
    inputs: Sequence[JoinInput], constants: Constants, selectivity: float | None, masks: Masks
) -> Costs:
    return plan_rows(inputs, masks, selectivity).cost(constants)


def _combinations(rate: Costs, live: Costs, granule: float) -> Costs:
    """Combinations that begin per instant: those that hold less those whose parts all held before.

    This is `discrete.product` for many inputs: parts that begin together make one combination.
    """
    new = np.divide(rate * granule, live, out=np.zeros_like(rate), where=live > 0)
    old = np.log1p(-np.minimum(new, _ALMOST_ALL)).sum(axis=1)
    return np.asarray(live.prod(axis=1) * -np.expm1(old) / granule)


def _intermediate(rate: Costs, live: Costs, share: float) -> Costs:
    """Partial matches on the way, where more than two inputs are probed in turn."""
    inputs = rate.shape[1]
    total = np.zeros(len(rate))
    for own in range(inputs):
        others = np.delete(live, own, axis=1)[:, :-1] * share ** (1 / max(inputs - 1, 1))
        total += rate[:, own] * others.cumprod(axis=1).sum(axis=1)
    return total
