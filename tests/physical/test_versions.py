"""Changes of a relation as rows with known ends: exact up to the watermark, at every step."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random

import polars as pl
import pyarrow as pa
import pytest

from tidemill.algebra import Scan, Schema, SourceKind
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.timeline import OPEN_END

SCAN = Scan("r", "r", Schema.of(**{"v": pa.string(), "#id": pa.int64()}), SourceKind.CHANGING)
EAGER = VersionsExec(SourceExec(SCAN), "r.#id", eager=True)
PATIENT = VersionsExec(SourceExec(SCAN), "r.#id")

Change = tuple[str, int, int, int]
"""A value, its version, and from when to when it holds."""


def steps(node: VersionsExec, *ticks: tuple[list[Change], int]) -> list[tuple[list[Change], int]]:
    """What comes out after every tick: rows, and the watermark. The state is stored between."""
    schema = {"r.v": pl.String, "r.#id": pl.Int64, "valid_from": pl.Int64, "valid_to": pl.Int64}
    operator = node.operator()
    results = []
    for changes, watermark in ticks:
        batch = pl.DataFrame(changes, schema=schema, orient="row")
        rows, mark = operator.step([batch], [watermark])
        assert rows.schema == batch.schema
        results.append((sorted(rows.rows()), mark))
        operator = pickle.loads(pickle.dumps(operator))
    return results


OPEN, CLOSED, LATER = ("a", 1, 2, OPEN_END), ("a", 1, 6, 6), ("b", 2, 9, OPEN_END)


def test_open_versions_are_cut_at_the_watermark() -> None:
    assert steps(EAGER, ([OPEN], 4), ([CLOSED, LATER], 7), ([], 9), ([], OPEN_END)) == [
        ([("a", 1, 2, 4)], 4),
        ([("a", 1, 4, 6)], 7),
        ([], 9),
        ([LATER], OPEN_END),
    ]


def test_patient_ones_wait_for_the_end() -> None:
    assert steps(PATIENT, ([OPEN], 4), ([CLOSED, LATER], 7), ([], OPEN_END)) == [
        ([], 0),
        ([("a", 1, 2, 6)], 0),
        ([LATER], OPEN_END),
    ]


def test_what_was_to_end_later_may_be_deleted() -> None:
    assert steps(EAGER, ([("a", 1, 2, 9)], 4), ([CLOSED], 7), ([], 12)) == [
        ([("a", 1, 2, 4)], 4),
        ([("a", 1, 4, 6)], 7),
        ([], 12),
    ]


def test_inserted_and_deleted_at_once() -> None:
    gone = ("a", 1, 2, 2)
    assert steps(EAGER, ([gone, OPEN, LATER], 5), ([], OPEN_END))[0] == ([], 5)
    assert steps(EAGER, ([OPEN, CLOSED], 9)) == [([("a", 1, 2, 6)], 9)]


@pytest.mark.parametrize("node", [EAGER, PATIENT], ids=["eager", "patient"])
@pytest.mark.parametrize("seed", range(5))
def test_snapshots_are_exact_up_to_the_watermark(node: VersionsExec, seed: int) -> None:
    random, latest = Random(seed), 20
    versions: list[Change] = []
    for number in range(30):
        start = random.randint(0, latest)
        end = random.choice([OPEN_END, random.randint(start + 1, latest + 1)])
        versions.append((random.choice("ab"), number, start, end))
    arrivals: list[list[Change]] = [[] for _ in range(latest + 2)]
    for value, number, start, end in versions:
        arrivals[start].append((value, number, start, OPEN_END))
        if end < OPEN_END:
            arrivals[end].append((value, number, end, end))
    ticks = [(random.sample(arrivals[t], len(arrivals[t])), t) for t in range(latest + 2)]
    found: list[Change] = []
    for rows, mark in steps(node, *ticks, ([], OPEN_END)):
        found += rows
        for instant in range(min(mark, latest + 3)):
            assert holding(found, instant) == holding(versions, instant)
    assert mark == OPEN_END


def holding(rows: list[Change], instant: int) -> Counter[tuple[str, int]]:
    return Counter((value, n) for value, n, start, end in rows if start <= instant < end)


def test_cutting_costs_no_more_than_what_comes() -> None:
    """A relation of many rows is not told again with every tick."""
    many = [("a", number, 0, OPEN_END) for number in range(30_000)]
    quiet = [([], watermark) for watermark in range(2, 14)]
    results = steps(EAGER, (many, 1), *quiet)
    assert sum(len(rows) for rows, _ in results) <= 3 * len(many)
    assert [mark for _, mark in results][-1] > 1
