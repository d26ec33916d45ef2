"""Duplicate elimination above other operators."""

from __future__ import annotations

from tidemill.algebra.nodes import Distinct, Join, Project
from tidemill.algebra.plan import Plan
from tidemill.optimize.keys import keeps_rows_apart


def push_distinct(plan: Plan) -> Plan:
    """Move DISTINCT below products, joins, and projections that keep rows apart.

    (Law 10.6, Example 28.1.)

    >>> from tidemill.optimize.examples import show
    >>> columns, join = "bid.item, price, seller", "bid JOIN auction ON bid.item = auction.item"
    >>> show(push_distinct, f"SELECT DISTINCT {columns} FROM {join}")
    01 Distinct
    02   Project [item := bid.item, price := bid.price, seller := auction.seller]
    03     Join on bid.item = auction.item
    04       Scan bid columns=[item, price]
    05       Scan auction columns=[item, seller]
    =>
    01 Project [item := bid.item, price := bid.price, seller := auction.seller]
    02   Join on bid.item = auction.item
    03     Distinct
    04       Scan bid columns=[item, price]
    05     Distinct
    06       Scan auction columns=[item, seller]
    """
    match plan:
        case Distinct(Join(left, right, condition)):
            return Join(Distinct(left), Distinct(right), condition)
        case Distinct(Project(child, items) as project) if keeps_rows_apart(project):
            return Project(Distinct(child), items)
    return plan
