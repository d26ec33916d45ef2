"""What is added and taken away again."""

from __future__ import annotations

from tidemill.algebra.plan import Plan
from tidemill.algebra.sets import (
    Difference,
    Union,
)
from tidemill.optimize.alike import are_alike


def cancel_difference(plan: Plan) -> Plan:
    """Rewrite (A ∪ B) − B as A.

    >>> from tidemill.optimize.examples import show
    >>> bids, auctions = "SELECT item FROM bid", "SELECT item FROM auction"
    >>> show(cancel_difference, f"({bids} UNION ALL {auctions}) EXCEPT ALL {auctions}")
    01 Difference
    02   Union
    03     Project [item := bid.item]
    04       Scan bid columns=[item, price]
    05     Project [item := auction.item]
    06       Scan auction columns=[item, seller]
    07   Project [item := auction.item]
    08     Scan auction columns=[item, seller]
    =>
    01 Project [item := bid.item]
    02   Scan bid columns=[item, price]
    """
    match plan:
        case Difference(Union(kept, added), taken) if are_alike(added, taken):
            return kept
        case Difference(Union(added, kept), taken) if are_alike(added, taken):
            return kept
    return plan
