"""Approximate rankings: what they keep, against the text's definitions, and how right they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tests.physical.instances import OneByOne
from tests.physical.instances import Row as Value
from tests.physical.ranking import Case, Row, copied
from tidemill.algebra.ranking import Strategy
from tidemill.physical.ranking.approximate import ApproximateRank


def approximate(case: Case, confidence: float = 1.0) -> ApproximateRank:
    ranked = replace(case.ranked, strategy=Strategy.APPROXIMATE, confidence=confidence)
    operator = replace(case.node, ranked=ranked).operator()
    assert isinstance(operator, ApproximateRank)
    return operator


def random_rows(random: Random, count: int, streams: int) -> list[Row]:
    """A row at every instant; an object comes once in a stream."""
    open_ones: list[tuple[int, list[int]]] = []
    rows = []
    for time in range(1, count + 1):
        if not open_ones or random.random() < 0.4:
            places = random.sample(range(streams), random.randint(1, streams))
            open_ones.append((time, places))
        at = random.randrange(len(open_ones))
        id, places = open_ones[at]
        rows.append((time, {"id": f"o{id}", "stream": places.pop(), "value": random.random()}))
        open_ones = [one for one in open_ones if one[1]]
    return rows


def chance(window: Sequence[Row], seen: Sequence[int], stream: int) -> float:
    """How many of the objects of all the streams in which one was seen are in another, too."""
    found = defaultdict(set)
    for _, values in window:
        found[values["id"]].add(values["stream"])
    given = {at for at, count in enumerate(seen) if count}
    alike = [streams for streams in found.values() if given <= streams]
    return sum(stream in streams for streams in alike) / len(alike) if alike else 1.0


@pytest.mark.parametrize("seed", range(12))
def test_what_stays_is_what_the_text_says(seed: int) -> None:
    random = Random(seed)
    k, size, confidence = random.choice([1, 2, 4]), random.choice([5, 15]), random.choice([0.4, 1])
    window = {"count": size} if random.random() < 0.5 else {"size": size}
    case = Case(random_rows(random, 60, 3), k, **window)
    operator = approximate(case, confidence)
    literal = OneByOne(k, size, [1, 1, 1], lambda seen, stream: 0.0)
    for at, (time, values) in enumerate(case.rows):
        now = case.rows[max(0, at + 1 - size) : at + 1]
        literal.expected = lambda seen, stream, now=now: (
            0.0 if seen[stream] else min(1.0, confidence * chance(now, seen, stream))
        )
        literal.arrive(values["id"], Value(time, values["stream"], values["value"]))
        operator.step([case.batch([(time, values)])], [time + 1])
        operator = copied(operator) if random.random() < 0.1 else operator
        kept = {(row["s.id"], row["t"]) for row in operator.instances.to_dicts()}
        assert kept == {(one.id, one.time) for one in literal.instances}, at
