"""The plans of the auction queries, written once for both approaches.

A kit is the module of an approach: `intervals` or `signed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from types import ModuleType

from experiments.signs.flow import Plan, Row

MINUTE = 60_000_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
ITEMS = frozenset((1007, 1020, 1087, 2001, 2019))

# Columns of the streams, behind which their instant was.
ITEM, PRICE = itemgetter(0), itemgetter(1)

Build = Callable[[ModuleType], Plan]


def q1(kit: ModuleType) -> Plan:
    plan = Plan()
    plan.chain("bid", *kit.now(), kit.Map(lambda bid: (bid[0], bid[1] * 0.8, bid[2])))
    return plan


def q2(kit: ModuleType) -> Plan:
    plan = Plan()
    plan.chain("bid", *kit.now(), kit.Filter(lambda bid: bid[0] in ITEMS))
    return plan


def window_of_bids(size: int) -> Build:
    """A window and nothing else."""

    def build(kit: ModuleType) -> Plan:
        plan = Plan()
        plan.chain("bid", kit.TimeWindow(size))
        return plan

    return build


def q3(kit: ModuleType, nested: bool = False) -> Plan:
    plan = Plan()
    join = kit.Join(ITEM, ITEM, lambda opened, closed: opened, nested=nested)
    plan.chain("open_auction", kit.TimeWindow(5 * HOUR), join.left)
    plan.chain("closed_auction", *kit.now(), join.right)
    plan.link(join)
    return plan


def q3_nested(kit: ModuleType) -> Plan:
    return q3(kit, nested=True)


def q4(kit: ModuleType, coalesce: bool = False, **options: str) -> Plan:
    """One window of the bids serves both sides of the join."""
    plan = Plan()
    window, join = kit.TimeWindow(10 * MINUTE), kit.Join(PRICE, ITEM, lambda bid, _: bid[:2])
    highest = kit.Maximum(PRICE, **options)
    plan.chain("bid", window)
    window.to(join.left, highest.push)
    plan.link(highest, *([kit.Coalesce()] if coalesce else []), join.right)
    plan.link(join)
    return plan


def q4_coalesced(kit: ModuleType) -> Plan:
    return q4(kit, coalesce=True)


def q4_recomputed(kit: ModuleType) -> Plan:
    return q4(kit, function="recomputed")


def closing_prices(plan: Plan, kit: ModuleType, group_first: bool) -> None:
    """The item, the seller and the price of every auction that closes; what follows is linked."""
    prices, closing = kit.Union(), kit.Join(ITEM, ITEM, lambda price, closed: price)
    opened = kit.TimeWindow(2 * DAY)
    plan.chain("bid", kit.TimeWindow(2 * DAY), kit.Map(lambda bid: bid[:2]), prices.left)
    plan.chain("open_auction", opened)
    start_price = kit.Map(itemgetter(0, 2))
    plan.link(start_price, prices.right)
    plan.link(prices, closing.left)
    plan.chain("closed_auction", *kit.now(), closing.right)
    if group_first:
        highest = kit.Grouping(lambda row: row[:1], PRICE, "max")
        sellers = kit.Join(ITEM, ITEM, lambda price, auction: (price[0], auction[1], price[1]))
        plan.link(closing, highest, sellers.left)
        plan.link(sellers)
    else:
        sellers = kit.Join(ITEM, ITEM, lambda price, auction: (price[0], auction[1], price[1]))
        plan.link(closing, sellers.left)
        plan.link(sellers, kit.Grouping(lambda row: row[:2], itemgetter(2), "max"))
    opened.to(start_price.push, sellers.right)


def q5(kit: ModuleType) -> Plan:
    """Plan 1 of the text: first the highest price of every item, then its seller."""
    plan = Plan()
    closing_prices(plan, kit, group_first=True)
    return plan


def q5_join_first(kit: ModuleType) -> Plan:
    """Plan 2 of the text."""
    plan = Plan()
    closing_prices(plan, kit, group_first=False)
    return plan


def q6(kit: ModuleType) -> Plan:
    """One window and one count by item serve both sides of the join."""
    plan = Plan()
    counts = kit.Grouping(lambda bid: bid[:1], ITEM, "count")
    most = kit.Maximum(PRICE)
    join = kit.Join(PRICE, ITEM, lambda counted, _: counted)
    plan.chain("bid", kit.TimeWindow(HOUR), counts)
    counts.to(join.left, most.push)
    plan.link(most, join.right)
    plan.link(join)
    return plan


def q7(kit: ModuleType) -> Plan:
    plan = Plan()
    closing_prices(plan, kit, group_first=True)
    newest = kit.CountWindow(10, itemgetter(1))
    plan.operators[-1].to(newest.push)
    plan.link(newest, kit.Grouping(lambda row: row[1:2], itemgetter(2), "avg"))
    return plan


def q8(kit: ModuleType) -> Plan:
    plan = Plan()
    join = kit.Join(ITEM, PRICE, lambda person, auction: person)
    plan.chain("person", kit.TimeWindow(12 * HOUR), join.left)
    plan.chain("open_auction", *kit.now(), join.right)
    plan.link(join, kit.Distinct())
    return plan


def newest_numbers(size: int) -> Build:
    """A count-based window and nothing else."""

    def build(kit: ModuleType) -> Plan:
        plan = Plan()
        plan.chain("numbers", kit.CountWindow(size))
        return plan

    return build


QUERIES: Mapping[str, Build] = {
    "q1": q1,
    "q2": q2,
    "q3": q3,
    "q4": q4,
    "q5": q5,
    "q6": q6,
    "q7": q7,
    "q8": q8,
}


def columns(row: Row) -> Row:
    """A row as it is compared: sums of floating point numbers may differ in their last digits."""
    return tuple(round(cell, 6) if isinstance(cell, float) else cell for cell in row)
