"""Joins of many windows on one attribute: what they cost, and in which order to loop."""

from tidemill.optimize.joins.costs import (
    general_costs,
    join_size,
    multiway_costs,
    naive_costs,
    orders_by_origin,
    origin_cost,
    total,
)
from tidemill.optimize.joins.drift import Drift, drift, moved, reorder
from tidemill.optimize.joins.ordering import Choice, choose_order
from tidemill.optimize.joins.windows import JoinWindow

__all__ = [
    "Choice",
    "Drift",
    "JoinWindow",
    "choose_order",
    "drift",
    "general_costs",
    "join_size",
    "moved",
    "multiway_costs",
    "naive_costs",
    "orders_by_origin",
    "origin_cost",
    "reorder",
    "total",
]
