"""The objects that a ranking knows, by their numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from tests.physical.ranking import Case
from tidemill.physical.operators.ranking.known import KnownObjects


def keys(*ids: str) -> pl.DataFrame:
    return pl.DataFrame({"s.id": ids})


def test_objects_are_found_by_the_numbers_they_were_given() -> None:
    known = KnownObjects(Case((), 1, size=1).node)
    items = known.find_or_add(keys("b", "a", "b"))
    assert items[0] == items[2] != items[1]
    assert known.find(keys("a", "b", "c")).tolist() == [items[1], items[0], -1]
    assert known.rows(items)["s.id"].to_list() == ["b", "a", "b"]
    known.forget(items[:1])
    assert known.find(keys("a", "b")).tolist() == [items[1], -1]


def test_ties_are_in_the_order_of_keys_whenever_objects_come() -> None:
    known = KnownObjects(Case((), 1, size=1).node)
    ids = [f"{number * 7919 % 5000:04}" for number in range(5000)]
    for start in range(0, 5000, 250):
        items = known.find_or_add(keys(*ids[start : start + 250]))
        known.forget(items[:100])  # what is forgotten is renewed in between
    every = known.find(keys(*sorted(ids)))
    every = every[every >= 0]
    assert len(every) == len(known) == 3000
    assert (np.diff(known.ties[every, 0]) > 0).all()
