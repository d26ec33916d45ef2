"""What each plan of an aggregation over a join costs: rows through its operators, and their steps.

An early aggregate of ours writes a *version* of a group whenever rows come or leave, the join
treats versions like any rows that hold for a while, and the late aggregate weighs what it gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.constants import MEASURED, Constants
from tidemill.optimize.cost.discrete import grouped
from tidemill.optimize.early.choice import EarlyChoice, choose
from tidemill.optimize.early.plans import Costs, Masks

# Versions that may be cut in every tick, whatever it brought (`physical.release`).
FREE_CUTS = 4096

# What brings fewer rows per tick is a relation: it has been read, so nothing of it is open.
_NO_ROWS = 1e-3

# Just below 1: the logarithm of what is left can still be taken.
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

    def cuts(self, tick: float) -> float:
        """How often per instant all versions are cut, so that the join can go on.

        After every tick, or after as many as bring the rows that pay for it.
        """
        brought = self.stream.rate * tick
        if tick == inf or brought < _NO_ROWS:
            return 0.0
        paid = brought + FREE_CUTS
        return 1 / (tick * max(1, ceil(self.early.live_rows / paid)))


@dataclass(frozen=True)
class PlanRows:
    """By plan: rows per instant through each part, and rows kept as state.

    `step` counts early aggregates, once per tick; `join` counts partial matches too. `output` is
    what the late aggregate makes: in every plan the same.
    """

    step: Costs
    aggregate: Costs
    version: Costs
    probe: Costs
    join: Costs
    late: Costs
    output: Costs
    state: Costs

    def cost(self, constants: Constants = MEASURED, byte: float = 0.0) -> Costs:
        """Nanoseconds per instant, one number per plan; `byte` is the price of a byte of state."""
        join, group, total = constants["join"], constants["aggregate"], constants["total"]
        into, out = group.arrive + total.arrive, group.emit + total.emit
        work = (group.tick + total.tick) * self.step + into * (self.aggregate + self.late)
        work = work + out * (self.version + self.output)
        work = work + join.arrive * self.probe + join.compare * self.join
        return np.asarray(work + byte * join.row_bytes * self.state)


def plan_rows(
    inputs: Sequence[JoinInput],
    masks: Masks,
    selectivity: float | None = None,
    tick: float = inf,
) -> PlanRows:
    """Rows through the parts of each plan.

    `selectivity` is the share of all combinations of rows that match; by default that of a join
    on one attribute whose values are as likely as each other. `tick` is the time between ticks.
    """
    share = common_selectivity(inputs) if selectivity is None else selectivity
    granule = min(side.stream.granularity for side in inputs)
    streams, early = [side.stream for side in inputs], [side.early for side in inputs]
    rates, windows = (np.array([(s.rate, s.live_rows) for s in streams])).T
    changes, sets = (np.array([(s.rate, s.live_rows) for s in early])).T
    cuts = np.array([side.cuts(tick) for side in inputs])
    rate, live = np.where(masks, changes, rates), np.where(masks, sets, windows)
    # Inputs are cut at the same time: a match begins anew once, however many parts do.
    matches = share * live.prod(axis=1)
    made = share * _combinations(rate, live, granule) + matches * (masks * cuts).max(axis=1)
    return PlanRows(
        step=masks.sum(axis=1) / tick,
        aggregate=masks @ rates,
        version=masks @ (changes + cuts * sets),
        probe=rate.sum(axis=1) + masks @ (cuts * sets),
        join=made + _intermediate(rate, live, share),
        late=made,
        output=np.full(len(masks), _output(inputs, share, granule)),
        # The join keeps its inputs, an early aggregate its rows, the late one those of the join.
        state=live.sum(axis=1) + masks @ windows + matches,
    )


def choose_plan(
    inputs: Sequence[JoinInput],
    constants: Constants = MEASURED,
    selectivity: float | None = None,
    tick: float = inf,
    allowed: Sequence[bool] | None = None,
    byte: float = 0.0,
) -> EarlyChoice:
    """The cheapest plan for our operators.

    >>> stream = Characteristics(distance=1, length=5000)
    >>> choose_plan([JoinInput(stream, keys=10), JoinInput(stream, keys=10, groups=1e7)]).mask
    (True, False)
    """
    everywhere = [True] * len(inputs) if allowed is None else allowed

    def price(masks: Masks) -> Costs:
        return plan_rows(inputs, masks, selectivity, tick).cost(constants, byte)

    return choose(price, everywhere)


def common_selectivity(inputs: Sequence[JoinInput]) -> float:
    """The share of combinations that agree in one common attribute."""
    keys = [side.keys for side in inputs]
    return min(keys) / float(np.prod(keys))


def _output(inputs: Sequence[JoinInput], share: float, granule: float) -> float:
    """Rows of the result: a match of early versions changes a group, several at an instant once."""
    rate = np.array([[side.early.rate for side in inputs]])
    live = np.array([[side.early.live_rows for side in inputs]])
    [changes] = _combinations(rate, live, granule) * share * granule
    groups = float(np.prod([side.groups for side in inputs]))
    return float(groups * -np.expm1(-changes / groups) / granule)


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
