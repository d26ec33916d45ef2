"""How well sketches tell in which streams objects appear, and what they forget."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.topk import cases
from tidemill.physical.operators.ranking.appearance import Appearances, zeros_at_end

_MIX = np.uint64(0x9E3779B97F4A7C15)


def _hashes(ids: np.ndarray) -> np.ndarray:
    """Hashes of small numbers: two rounds of multiplying and folding."""
    hashes = (ids.astype(np.uint64) + np.uint64(1)) * _MIX
    hashes = (hashes ^ (hashes >> np.uint64(31))) * _MIX
    return hashes ^ (hashes >> np.uint64(29))


def _shown(streams: list[list[int]], size: int = 100) -> Appearances:
    """Streams that show these objects, all at the same time."""
    seen = Appearances(len(streams), size)
    for at, ids in enumerate(streams):
        seen.note(_hashes(np.array(ids)), np.full(len(ids), at), np.ones(len(ids), np.int64))
    return seen


def test_the_lowest_bit_is_found() -> None:
    case = cases()["fm_rho"]
    length = case["inputs"]["L"]
    found = np.minimum(zeros_at_end(np.array(case["inputs"]["y"], np.uint64)), length)
    assert found.tolist() == case["expected"]["rho"]


def test_half_of_the_hashes_end_in_no_zero_a_quarter_in_one() -> None:
    found = np.bincount(zeros_at_end(_hashes(np.arange(64000))))[:4] / 64000
    assert found == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 16], abs=0.01)


def test_an_intersection_is_what_the_union_lacks() -> None:
    case = cases()["intersection_from_union"]
    one, other, union = (case["inputs"][name] for name in ("size_i", "size_j", "size_union"))
    seen = _shown([list(range(one)), list(range(union - other, union))])
    [[_, chance]] = seen.chances(np.array([0b01]))
    assert chance * one == pytest.approx(case["expected"]["intersection"])
    assert seen.objects.tolist() == [one, other]


def test_conditional_probabilities_of_the_text() -> None:
    case = cases()["conditional_probabilities"]
    streams = case["inputs"]["objects_in_stream"].values()
    seen = _shown([[ord(name) for name in names] for names in streams])
    for text, expected in case["expected"]["probabilities"].items():
        stream, given = text[2:-1].replace("X", "").split("|")
        bits = sum(1 << int(one) - 1 for one in given.split(","))
        chance = seen.chances(np.array([bits]))[0, int(stream) - 1]
        assert chance == pytest.approx(expected, abs=1e-6), text


def test_nothing_known_means_that_everything_may_come() -> None:
    seen = _shown([[1, 2], [3], []])
    chances = seen.chances(np.array([0b000, 0b001, 0b011, 0b100]))
    assert chances[1].tolist() == [1, 0, 0]
    assert (chances[2:] == 1).all()


def test_what_is_outside_the_window_does_not_count() -> None:
    seen = Appearances(2, 10)
    hashes = _hashes(np.array([1, 2, 1]))
    seen.note(hashes, np.array([0, 0, 1]), np.array([1, 5, 8]))
    assert seen.chances(np.array([0b01]))[0].tolist() == [1, 0.5]
    seen.advance(11)  # 1 has just left
    assert seen.chances(np.array([0b01, 0b10])).tolist() == [[1, 0], [0, 1]]
    seen.advance(18)
    assert len(seen.rows(0)[0]) == 0


def _random_rows(rows: int, objects: int, streams: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(rows)
    return random.integers(0, objects, rows), random.integers(0, streams, rows), np.arange(rows)


def _exactly(ids: np.ndarray, streams: np.ndarray, given: int, stream: int) -> float:
    """How many of the objects of all the given streams another stream shows."""
    sets = [set(ids[streams == at]) for at in range(streams.max() + 1)]
    objects = set.intersection(*(sets[at] for at in range(len(sets)) if given >> at & 1))
    return len(objects & sets[stream]) / len(objects)


@pytest.mark.parametrize("given", [0b0001, 0b0110, 0b0111])
def test_a_sample_is_close_to_the_truth(given: int) -> None:
    ids, streams, times = _random_rows(60000, 10000, 4)
    seen = Appearances(4, 20000)
    for part in np.array_split(np.arange(60000), 13):
        seen.note(_hashes(ids[part]), streams[part], times[part])
    truth = _exactly(ids[-20000:], streams[-20000:], given, 3)
    assert seen.level > 0
    assert len(np.unique(seen.rows(0)[0])) <= 4096
    assert seen.chances(np.array([given]))[0, 3] == pytest.approx(truth, abs=0.08)
    assert seen.objects[3] == pytest.approx(len(set(ids[-20000:][streams[-20000:] == 3])), rel=0.1)


def test_parts_merge_into_the_whole() -> None:
    ids, streams, times = _random_rows(40000, 20000, 3)
    whole = Appearances(3, 30000, 512)
    parts = [Appearances(3, 30000, 512) for _ in range(3)]
    whole.note(_hashes(ids), streams, times)
    for at, part in enumerate(parts):
        mine = ids % 3 == at
        part.note(_hashes(ids[mine]), streams[mine], times[mine])
    first, *others = (Appearances.load(part.dump()) for part in parts)
    merged = first.merge(others)
    assert merged.dump() == whole.dump()


def test_a_part_tells_no_more_than_the_whole_needs() -> None:
    ids, streams, times = _random_rows(4000, 2000, 3)
    seen = Appearances(3, 4000)
    seen.note(_hashes(ids), streams, times)
    told = Appearances.load(seen.dump(level=2))
    assert told.level == 2
    assert len(told.rows(0)[0]) < len(seen.rows(0)[0]) / 3


def test_after_a_crowd_more_objects_are_taken_but_not_trusted_at_once() -> None:
    seen = Appearances(2, 100, 64)
    crowd = np.arange(4000)
    seen.note(_hashes(crowd), crowd % 2, np.full(4000, 1))
    crowded = seen.level
    levels = []
    for time in range(102, 1400, 2):
        few = np.array([time, time, time + 1])
        seen.note(_hashes(few), np.array([0, 1, 0]), np.full(3, time))
        levels.append(seen.level)
        if seen.objects[1]:
            assert seen.chances(np.array([0b10]))[0, 0] == 1.0
    assert crowded > levels[-1]
    assert levels == sorted(levels, reverse=True)


def test_objects_that_come_again() -> None:
    seen = _shown([[1, 2, 3, 4], [5, 6], []])
    assert seen.again.tolist() == [0, 0, 1]
    seen.note(_hashes(np.array([1, 5, 6])), np.array([0, 1, 1]), np.array([50, 60, 60]))
    assert seen.again.tolist() == [0.25, 1, 1]
    seen.advance(101)  # only the later rows are left
    assert seen.again.tolist() == [0, 0, 1]
