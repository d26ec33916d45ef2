"""Steps that share a block mean what they mean one around the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemill as tm
from tidemill.engine.query_table import QueryTable
from tidemill.table.blocks import above
from tidemill.testing import snapshot_at

BIDS = [
    {"item": item, "price": price, "at": at}
    for item, price, at in [(1, 3, 1), (2, 5, 1), (1, 8, 2), (3, 5, 3), (2, None, 5), (1, 3, 8)]
]
INSTANTS = range(14)
item, price = tm.col("item"), tm.col("price")
Step = Callable[[QueryTable], QueryTable]

STEPS: dict[str, Step] = {
    "filter": lambda t: t.filter(price > 3),
    "filter either": lambda t: t.filter((price > 4) | (item == 1)),
    "select": lambda t: t.select("item", price=9 - price),
    "swap": lambda t: t.select(item="price", price="item"),
    "replace": lambda t: t.replace_columns(price=price * -1),
    "with columns": lambda t: t.with_columns(more=price + item).drop("more"),
    "distinct": lambda t: t.select("item", "price").distinct(),
    "first": lambda t: t.order_by(price.desc(), "item").limit(2),
    "first by expression": lambda t: t.order_by((price * -1).desc(), "item").limit(3),
    "skip": lambda t: t.order_by("item", "price").limit(3, offset=1),
    "groups": lambda t: t.group_by("item").agg(price=tm.max("price")),
    "groups by expression": lambda t: t.group_by(item=price % 2).agg(price=tm.sum("item")),
    "some groups": lambda t: t.group_by("item").agg(price=tm.sum("price")).having(tm.count() > 1),
    "whole": lambda t: t.agg(item=tm.min("item"), price=tm.sum("price")),
    "qualify": lambda t: t.qualify(tm.fn.row_number().over("item", ["price", "item"]) == 1),
    "join": lambda t: t.select("item", "price").join(tm.values([(1,), (2,)], "item"), "item"),
    "anti join": lambda t: t.select("item", "price").join(
        tm.values([(3,)], "item"), "item", "anti"
    ),
    "union": lambda t: t.select("item", "price").union(tm.values([(7, 5)], "item", "price")),
    "except": lambda t: t.select("item", "price").except_(tm.values([(1, 3)], "a", "b"), all=True),
}


@pytest.mark.filterwarnings("ignore::tidemill.PlanWarning")
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=4))
@settings(max_examples=60, deadline=None)
def test_steps_in_one_block_mean_what_they_mean_apart(names: list[str]) -> None:
    with tm.Engine(runtime="inprocess") as engine:
        engine.stream("bid", BIDS, time="at")
        together = apart = engine.table("bid").window(range=5)
        for name in names:
            together = STEPS[name](together)
            apart = STEPS[name](replace(apart, tree=above(apart.tree)))
        found, expected = together.collect(), apart.collect()
        for at in INSTANTS:
            assert snapshot_at(found, at) == snapshot_at(expected, at), together.sql
