"""Joins of many windows on one attribute, as the text has them: costs, and orders of loops."""

from experiments.multijoin.costs import (
    general_costs,
    join_size,
    multiway_costs,
    naive_costs,
    origin_cost,
    total,
)
from experiments.multijoin.drift import Drift, drift, moved, reorder
from experiments.multijoin.ordering import Choice, choose_order
from experiments.multijoin.windows import LoopWindow

__all__ = [
    "Choice",
    "Drift",
    "LoopWindow",
    "choose_order",
    "drift",
    "general_costs",
    "join_size",
    "moved",
    "multiway_costs",
    "naive_costs",
    "origin_cost",
    "reorder",
    "total",
]
