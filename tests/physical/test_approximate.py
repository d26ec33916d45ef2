"""Approximate rankings: what they keep, against the text's definitions, and how right they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from tests.physical.instances import OneByOne
from tests.physical.instances import Row as Value
from tests.physical.ranking import Case, Row, copied
from tidemill.algebra.ranking import Strategy
from tidemill.physical.operators.ranking.approximate import ApproximateRank
from tidemill.physical.operators.ranking.likely import Likely
from tidemill.physical.operators.ranking.operator import Rank
from tidemill.physical.operators.ranking.promises import Promises
from tidemill.timeline import VALID_FROM, VALID_TO


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


@pytest.mark.parametrize("seed", range(8))
def test_what_stays_is_what_the_text_says(seed: int) -> None:
    random = Random(seed)
    k, size, confidence = random.choice([1, 2, 4]), random.choice([5, 15]), random.choice([0.4, 1])
    window = {"count": size} if random.random() < 0.5 else {"size": size}
    case = Case(random_rows(random, 45, 3), k, **window)
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


def test_a_row_after_another_counts_by_how_many_come_again() -> None:
    case = Case((), 1, streams=2, size=100, most=3)
    likely = Likely(replace(case.ranked, confidence=1.0), 100)
    ids = np.arange(8, dtype=np.uint64)
    # All eight in the first stream, four of them again; two in the second stream, once.
    likely.note(
        np.concatenate([ids, ids[:4], ids[:2]]),
        np.repeat([0, 1], [12, 2]),
        np.arange(14),
    )
    seen = np.array([[0, 0], [1, 0], [2, 0], [3, 1]])
    # Of the first stream two rows are expected, or one more than were seen, but never too many.
    expected = [[2, 0.25], [1, 0.25], [1, 0.25], [0, 0]]
    assert likely.coming(seen) == pytest.approx(np.array(expected))


def test_nothing_seen_yet_means_what_is_promised() -> None:
    case = Case((), 1, streams=2, size=100, most=3)
    likely = Likely(replace(case.ranked, confidence=1.0), 100)
    seen = np.array([[0, 0], [1, 2]])
    assert likely.coming(seen).tolist() == Promises(case.ranked.streams, 100).coming(seen).tolist()


def recurring_rows(random: Random, count: int, recent: int, xi: float = 0.5) -> list[Row]:
    """Three streams as in the text: an object is new, or by chance one of another stream's last.

    If the stream has had it before, a new one comes after all.
    """
    lists: list[list[int]] = [[], [], []]
    sent = set()
    rows = []
    for time in range(count):
        stream = random.randrange(3)
        other = lists[random.choice([at for at in range(3) if at != stream])]
        id = random.choice(other) if other and random.random() < xi else time
        id = time if (stream, id) in sent else id
        sent.add((stream, id))
        lists[stream] = [*lists[stream], id][-recent:]
        rows.append((time, {"id": id, "stream": stream, "value": random.random()}))
    return rows


def answers(
    case: Case, operator: Rank, batch: pl.DataFrame, size: int
) -> tuple[list[set[int]], list[float]]:
    """The answer at the end of every tick of so many rows, and how much was kept then."""
    found, kept = [], []
    for start in range(0, batch.height, size):
        found.append(operator.step([batch[start : start + size]], [start + size])[0])
        kept.append(operator.measures["ranking_instances"])
    rows = pl.concat([*found, operator.step([batch.clear()], [batch.height])[0]])
    held = rows.sort(VALID_FROM)
    ends = range(size - 1, batch.height - size, size)
    valid = (held.filter((pl.col(VALID_FROM) <= at) & (pl.col(VALID_TO) > at)) for at in ends)
    return [set(rows["id"]) for rows in valid], kept


def compared(case: Case, confidence: float, warm: int) -> tuple[float, float, float]:
    """Precision, the share of instances, and the estimated precision, in ticks of 20 rows."""
    batch = case.batch(case.rows)
    exact, approximately = case.node.operator(), approximate(case, confidence)
    assert isinstance(exact, Rank)
    right, many = answers(case, exact, batch, 20)
    given, few = answers(case, approximately, batch, 20)
    pairs = list(zip(right, given, strict=True))[warm // 20 :]
    precision = sum(len(a & b) / len(a) for a, b in pairs) / len(pairs)
    measures = approximately.measures
    checked, missed = (measures[f"ranking_{name}"] for name in ("checked", "missed_estimate"))
    share = sum(few[warm // 20 :]) / sum(many[warm // 20 :])
    return precision, share, 1 - missed / checked


@pytest.mark.parametrize(
    ("k", "least", "most"),
    [
        (10, 0.80, 0.20),
        pytest.param(20, 0.86, 0.27, marks=pytest.mark.slow),
        pytest.param(50, 0.96, 0.44, marks=pytest.mark.slow),
        pytest.param(100, 0.99, 0.65, marks=pytest.mark.slow),
    ],
)
def test_the_text_s_settings(k: int, least: float, most: float) -> None:
    """Three streams, ξ = 0.5, the last 1000 rows: the precision and the share that it prints."""
    rows = recurring_rows(Random(2), 4000, recent=30)
    case = Case(rows, k, count=1000, keys=(("id", pa.int64()),))
    precision, share, _ = compared(case, confidence=0.4, warm=1500)
    assert precision >= least
    assert share <= most


def test_the_estimate_is_close_to_the_precision() -> None:
    rows = recurring_rows(Random(6), 6000, recent=60)
    case = Case(rows, 20, count=300, keys=(("id", pa.int64()),))
    precision, _, estimate = compared(case, confidence=0.1, warm=0)
    assert precision < 0.85
    assert estimate == pytest.approx(precision, abs=0.1)
