"""What rankings retain: the instances of the definitions, however rows are cut into ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from tests.physical.instances import OneByOne, at_most
from tests.physical.instances import Row as Arrival
from tests.physical.ranking import Case, Row, run

Instances = list[tuple[str, int, float, float]]


def random_case(random: Random, apart: bool) -> Case:
    """Objects that come back after others have passed them, or soon enough not to be forgotten."""
    most, streams, time = random.choice([1, 1, 2, 4]), random.choice([2, 3]), 0
    names = [f"o{number:02}" for number in range(random.choice([4, 8, 16, 30]))]
    few, counts, rows = random.random() < 0.4, Counter[Any](), list[Row]()
    for _ in range(random.randint(5, 60)):
        time += random.choice([1, 1, 1, 2, 4] if apart else [0, 0, 1, 1, 2])
        name, stream = random.choice(names), random.randrange(streams)
        counts[name, stream] += 1
        if counts[name, stream] <= most:
            value = random.randint(0, 4) / 4 if few else random.random()
            rows.append((time, {"id": name, "stream": stream, "value": value}))
    size = random.choice([5, 10, 30, 100])
    window = {random.choice(["size", "count"]): size}
    return Case(rows, random.choice([1, 1, 2, 3]), streams=streams, most=most, **window)


def retained(ranking: Any) -> Instances:
    rows = ranking.instances.iter_rows()
    return sorted((id, t, round(current, 9), round(best, 9)) for id, t, current, best in rows)


def after(case: Case, cuts: Iterable[int]) -> dict[int, Instances]:
    """What is retained at the end of ticks."""
    ranking, found, last = case.node.operator(), {}, 0
    for cut in cuts:
        run(case, ranking, [([row for row in case.rows if last <= row[0] < cut], cut)])
        found[cut], last = retained(ranking), cut
    return found


def by_definition(case: Case, cuts: Iterable[int]) -> dict[int, Instances]:
    length = case.size or case.count or 0
    model = OneByOne(case.limit, length, [1.0] * case.streams, at_most(case.most or 0))
    found, last = {}, 0
    for cut in cuts:
        for number, (time, values) in enumerate(case.rows, 1):
            if last <= time < cut:
                place = number if case.size is None else time
                model.arrive(values["id"], Arrival(place, values["stream"], values["value"]))
        if case.size is not None:
            model.advance(cut - 1)
        found[cut] = sorted(
            (one.id, one.time, round(one.current, 9), round(one.best, 9)) for one in model.instances
        )
        last = cut
    return found


def every_cut(case: Case) -> list[int]:
    cuts = {time + after for time, _ in case.rows for after in (0, 1)}
    return sorted(cuts | {max(cuts) + (case.size or 0)})


@pytest.mark.parametrize("seed", range(8))
def test_retained_as_defined(seed: int) -> None:
    case = random_case(Random(seed), apart=True)
    cuts = every_cut(case)
    assert after(case, cuts) == by_definition(case, cuts)


@pytest.mark.parametrize("apart", [True, False], ids=["apart", "together"])
@pytest.mark.parametrize("seed", range(6))
def test_ticks_do_not_matter(seed: int, apart: bool) -> None:
    random = Random(f"{seed} {apart}")
    case = random_case(random, apart)
    cuts = every_cut(case)
    expected = after(case, cuts)
    for count in (0, 1, 4):
        some = sorted({*random.sample(cuts, min(count, len(cuts))), cuts[-1]})
        for cut, found in after(case, some).items():
            assert found == expected[cut]


def test_ticks_do_not_matter_for_many_rows() -> None:
    """Many more instances than the first ones, and objects that come back all the time."""
    random, rows, seen = Random(10), list[Row](), set[tuple[str, int]]()
    for time in range(6_000):
        name, stream = f"o{time // 3 + random.randrange(600)}", random.randrange(3)
        if (name, stream) not in seen:
            rows.append((time, {"id": name, "stream": stream, "value": random.random()}))
        seen.add((name, stream))
    case = Case(rows, 10, size=6_000)
    expected = after(case, range(100, 6_001, 100))
    for cut, found in after(case, [3_000, 6_000]).items():
        assert found == expected[cut]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_many_ticks_do_not_matter(seed: int) -> None:
    random = Random(f"many {seed}")
    case = random_case(random, apart=seed % 2 == 0)
    cuts = every_cut(case)
    expected = after(case, cuts)
    if seed % 2 == 0:
        assert expected == by_definition(case, cuts)
    for cut, found in after(case, [*sorted(random.sample(cuts, 3)), cuts[-1]]).items():
        assert found == expected[cut]
