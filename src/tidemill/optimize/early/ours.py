"""Rows that flow through our own operators in each plan, and what they cost.

An early aggregate of ours writes a *version* of a group whenever rows come or leave, the join
treats versions like any rows that hold for a while, and the late aggregate weighs what it gets.
Times and rates are in instants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tidemill.optimize.early.choice import Choice, choose
from tidemill.optimize.early.plans import Costs, Masks


@dataclass(frozen=True)
class JoinInput:
    """An input of the join: new rows per instant, and rows that hold at one instant.

    `keys` are the distinct values of its join columns, `groups` those of the columns that it adds
    to the query's grouping (1: none). A relation has rate 0.
    """

    rate: float
    live: float
    keys: float
    groups: float = 1.0


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


def versions(side: JoinInput, granularity: float = 1.0) -> tuple[float, float]:
    """Versions that an early aggregate writes per instant, and versions that hold at one.

    Formula 22.7 of the cost model has two cases, groups that overlap in time and groups that do
    not. Here they are the two ends of one curve: a change writes a version unless it empties the
    group. Changes at one instant (of `granularity`) write one version.

    >>> versions(JoinInput(rate=1, live=10, keys=1000))  # rows alone in their groups
    (1.0..., 9.9...)
    >>> versions(JoinInput(rate=1, live=1000, keys=10))  # a start and an end change a group
    (1.8..., 10.0)
    >>> versions(JoinInput(rate=1000, live=1e6, keys=10))  # all groups change at every instant
    (10.0, 10.0)
    """
    places = side.keys * side.groups
    starts = side.rate * granularity / places
    empty = float(np.exp(-side.live / places))
    changes = -np.expm1(-2 * starts) + np.expm1(-starts) * empty
    return float(places * changes / granularity), places * (1 - empty)


def plan_rows(
    inputs: Sequence[JoinInput],
    masks: Masks,
    granularity: float = 1.0,
    selectivity: float | None = None,
) -> Rows:
    """Rows through the parts of each plan.

    `selectivity` is the share of all combinations of rows that match; by default that of a join
    on one attribute whose values are as likely as each other.
    """
    share = common_selectivity(inputs) if selectivity is None else selectivity
    late = np.array([(side.rate, side.live) for side in inputs]).T
    early = np.array([versions(side, granularity) for side in inputs]).T
    rate, live = (np.where(masks, few, many) for few, many in zip(early, late, strict=True))
    made = _combinations(rate, live, granularity, share)
    pairs = share * live.prod(axis=1)
    return Rows(
        aggregate=masks @ late[0],
        probe=rate.sum(axis=1),
        join=made + _intermediate(rate, live, share),
        late=made,
        state=live.sum(axis=1) + masks @ late[1] + pairs,
    )


def choose_plan(
    inputs: Sequence[JoinInput],
    constants: Constants | None = None,
    granularity: float = 1.0,
    selectivity: float | None = None,
    allowed: Sequence[bool] | None = None,
) -> Choice:
    """The cheapest plan for our operators.

    >>> few, many = JoinInput(1, 5000, keys=10, groups=1), JoinInput(1, 5000, keys=10, groups=1e7)
    >>> choose_plan([few, many]).mask
    (True, False)
    """
    everywhere = [True] * len(inputs) if allowed is None else allowed
    price = partial(_costs, inputs, constants or Constants(), granularity, selectivity)
    return choose(price, everywhere)


def common_selectivity(inputs: Sequence[JoinInput]) -> float:
    """The share of combinations that agree in one common attribute."""
    keys = [side.keys for side in inputs]
    return min(keys) / float(np.prod(keys))


def _costs(
    inputs: Sequence[JoinInput],
    constants: Constants,
    granularity: float,
    selectivity: float | None,
    masks: Masks,
) -> Costs:
    return plan_rows(inputs, masks, granularity, selectivity).cost(constants)


def _combinations(rate: Costs, live: Costs, granularity: float, share: float) -> Costs:
    """Matches that begin per instant: those that hold now less those whose parts all held before.

    Counted so, parts that begin together make one match, not one for each of them.
    """
    older = np.maximum(live - rate * granularity, 0.0)
    return np.asarray(share * (live.prod(axis=1) - older.prod(axis=1)) / granularity)


def _intermediate(rate: Costs, live: Costs, share: float) -> Costs:
    """Partial matches on the way, where more than two inputs are probed in turn."""
    inputs = rate.shape[1]
    total = np.zeros(len(rate))
    for own in range(inputs):
        others = np.delete(live, own, axis=1)[:, :-1] * share ** (1 / (inputs - 1))
        total += rate[:, own] * others.cumprod(axis=1).sum(axis=1)
    return total
