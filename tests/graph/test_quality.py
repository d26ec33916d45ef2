"""Bounds, effects and rules of adjusting: the worked examples, and what follows from them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from experiments.adapting.effect import Effect, effect_of
from tests.golden.loader import cases
from tidemill.algebra import Granularity, Scan, Schema, TimeWindow
from tidemill.errors import TidemillError
from tidemill.graph.quality import (
    Granules,
    SizeRange,
    next_instant,
    resized,
    synchronised,
)
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec

BID = Scan("bid", "b", Schema.of(item=pa.int64()))


def instances(case: str) -> list[Any]:
    (found,) = (each for each in cases("adaptation") if each.id == case)
    return list(found.facts["instances"])


@pytest.mark.parametrize("facts", instances("adapt.window_change.effect"))
def test_when_a_change_shows(facts: Any) -> None:
    found = effect_of(facts["change_at"], facts["old_size"], facts["new_size"])
    assert found == Effect(**facts["expected"])


@pytest.mark.parametrize("facts", instances("adapt.granularity_change.rule"))
def test_when_a_granule_may_change(facts: Any) -> None:
    at = facts["change_at"]
    then = next_instant(facts["granule"], facts["new_granule"], at)
    assert (then == at) is facts["expected"]
    plan = granularity(facts["granule"])
    change = {"g": (at, facts["new_granule"])}
    if facts["expected"]:
        assert resized({"q": plan}, change)[0]["q"] != plan
        return
    with pytest.raises(TidemillError) as error:
        resized({"q": plan}, change)
    assert f"{then} is the next" in (error.value.help or "")


@pytest.mark.parametrize("facts", instances("adapt.qos.window_bounds"))
def test_bounds_of_a_shared_window(facts: Any) -> None:
    merged = SizeRange(*facts["current"]) & SizeRange(*facts["new"])
    assert [merged.low, merged.high] == facts["expected"]["bounds"]
    assert merged.is_possible is facts["expected"]["compatible"]


@pytest.mark.parametrize("facts", instances("adapt.qos.granularities"))
def test_granules_of_a_shared_granularity(facts: Any) -> None:
    merged = Granules(frozenset(facts["current"])) & Granules(frozenset(facts["new"]))
    assert merged.allowed == frozenset(facts["expected"]["allowed"])
    assert merged.is_possible is facts["expected"]["compatible"]


@pytest.mark.parametrize("facts", instances("adapt.fraction"))
def test_settings_by_a_fraction(facts: Any) -> None:
    expected = facts["expected"]
    if "allowed" in facts:
        found = Granules(frozenset(facts["allowed"])).at(facts["fraction"])
        assert found == expected["chosen"]
    else:
        assert SizeRange(facts["min"], facts["max"]).at(facts["fraction"]) == expected["value"]


def test_granules_between_two_are_those_between_the_inner_ones_of_both() -> None:
    both = Granules.between(10, 7200) & Granules.between(60, 3600)
    assert both == Granules.between(60, 3600)
    assert not (Granules.between(2, 8) & Granules.between(3, 9)).is_possible


def granularity(granule: int, above: int | None = None, knob: str = "g") -> Exec:
    """A granularity over a window, and another one over it."""
    plan = Granularity(TimeWindow(BID, 60), granule, knob=knob)
    return lower(plan if above is None else Granularity(plan, above, knob="above"), {})


def test_what_is_made_of_a_granularity_follows_it() -> None:
    plan = granularity(2, 6)
    allowed = {"g": Granules.between(2, 24), "above": Granules.between(6, 24)}
    assert synchronised([plan], {"g": (10, 6)}, allowed) == {"g": (10, 6)}
    assert synchronised([plan], {"g": (10, 8)}, allowed) == {"g": (10, 8), "above": (10, 24)}
    assert synchronised([plan], {"above": (10, 12)}, allowed) == {"above": (10, 12)}


def test_a_granule_that_fits_nothing_downstream_is_refused() -> None:
    allowed = {"g": Granules.between(2, 24), "above": Granules.between(6, 12)}
    with pytest.raises(TidemillError, match="a granule of 8 does not divide the granule of 6"):
        synchronised([granularity(2, 6)], {"g": (10, 8)}, allowed)
    with pytest.raises(TidemillError, match="a granule of 4 does not divide the granule of 6"):
        synchronised([granularity(4, 12)], {"above": (12, 6)}, allowed)


def test_the_downstream_of_the_downstream_follows_too() -> None:
    middle = Granularity(Granularity(TimeWindow(BID, 60), 1, knob="g"), 2, knob="middle")
    plan = lower(Granularity(middle, 4, knob="above"), {})
    allowed = {name: Granules.between(1, 24) for name in ("g", "middle", "above")}
    found = synchronised([plan], {"g": (10, 3)}, allowed)
    assert found == {"g": (10, 3), "middle": (10, 3), "above": (10, 6)}
