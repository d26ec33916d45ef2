"""Windows, top-k and changes: ties, NULLs, the end of the known time."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from tests.reference.examples import copies, leaf, run, stream
from tidemill.algebra import (
    CountWindow,
    Dstream,
    Granularity,
    Istream,
    SortKey,
    SourceKind,
    TimeWindow,
    TopK,
)
from tidemill.reference import canonical

NAN = canonical(math.nan)
S = leaf(x=pa.float64(), y=pa.string())
ROWS = stream(
    S,
    (2.0, "b", 0),
    (math.nan, "a", 0),
    (2.0, None, 0),
    (None, "c", 0),
    (-0.0, "e", 0),
    (0.0, "d", 0),
)


def ordered(*keys: SortKey) -> list[str | None]:
    """The column y of all rows in the order that the keys give them, one limit at a time."""
    found = [run(TopK(S, keys, limit=1, offset=n), ROWS) for n in range(len(ROWS))]
    return [row[1] for stream in found for row in copies(stream, 0)]


def test_ties_of_a_count_window_are_ordered_by_the_row() -> None:
    # Total order: NULL, 0.0 d, 0.0 e, 2.0 NULL, 2.0 b, NaN.
    found = run(CountWindow(S, rows=2), ROWS)
    assert copies(found, 0) == [(2.0, "b"), (NAN, "a")]
    assert copies(run(CountWindow(S, rows=4, slide=4), ROWS), 0) == [
        (0.0, "d"), (0.0, "e"), (2.0, None), (None, "c"),
    ]  # fmt: skip


def test_partitions_take_null_nan_and_zeros_as_equal() -> None:
    data = stream(S, (None, "a", 0), (None, "b", 1), (math.nan, "a", 0), (math.nan, "b", 1),
                  (0.0, "a", 0), (-0.0, "b", 1))  # fmt: skip
    found = run(CountWindow(S, rows=1, partition_by=("s.x",)), data)
    assert copies(found, 5) == [(0.0, "b"), (None, "b"), (NAN, "b")]


def test_count_window_over_a_window_counts_every_instant_of_a_row() -> None:
    window = CountWindow(TimeWindow(S, 2), rows=3)
    found = run(window, stream(S, (1.0, "a", 0), (2.0, "b", 1)))
    # The copies are a@0, a@1, b@1, b@2.
    assert [len(copies(found, t)) for t in range(3)] == [1, 3, 3]
    assert copies(found, 9) == [(1.0, "a"), (2.0, "b"), (2.0, "b")]


def test_top_k_order() -> None:
    assert ordered(SortKey("s.x")) == ["c", "d", "e", None, "b", "a"]
    assert ordered(SortKey("s.x", nulls_first=False)) == ["d", "e", None, "b", "a", "c"]
    assert ordered(SortKey("s.x", descending=True)) == ["c", "a", None, "b", "d", "e"]
    last = SortKey("s.x", descending=True, nulls_first=False)
    assert ordered(last) == ["a", None, "b", "d", "e", "c"]
    assert ordered(last, SortKey("s.y", descending=True, nulls_first=False)) == [
        "a", "b", None, "e", "d", "c",
    ]  # fmt: skip


def test_top_k_counts_copies() -> None:
    data = stream(S, (1.0, "a", 0), (1.0, "a", 0), (2.0, "b", 0))
    assert copies(run(TopK(S, (SortKey("s.x"),), limit=2), data), 0) == [(1.0, "a")] * 2
    skipped = run(TopK(S, (SortKey("s.x"),), limit=2, offset=1), data)
    assert copies(skipped, 0) == [(1.0, "a"), (2.0, "b")]
    assert not run(TopK(S, (SortKey("s.x"),), limit=2, offset=3), data)


@pytest.mark.parametrize("horizon", range(8))
def test_dstream_at_the_end_of_the_known_time(horizon: int) -> None:
    scan = leaf(kind=SourceKind.INTERVALS, x=pa.int64())
    data = [({"x": 1}, 2, 5), ({"x": 2}, 2, None)]
    found = run(Dstream(scan), data, horizon=horizon)
    assert list(found) == ([4] if horizon >= 4 else [])


def test_dstream_of_dstream_looks_two_instants_ahead() -> None:
    scan = leaf(kind=SourceKind.INTERVALS, x=pa.int64())
    data = [({"x": 1}, 0, 3)]
    for horizon in (2, 3, 4):
        assert list(run(Dstream(Dstream(scan)), data, horizon=horizon)) == [2]


def test_changes_count_copies() -> None:
    scan = leaf(kind=SourceKind.INTERVALS, x=pa.int64())
    data = [({"x": None}, 0, 4), ({"x": None}, 2, 4)]
    came, gone = run(Istream(scan), data), run(Dstream(scan), data)
    assert {t: rows.total() for t, rows in came.items()} == {0: 1, 2: 1}
    assert {t: rows.total() for t, rows in gone.items()} == {3: 2}


def test_unbounded_window_with_slide() -> None:
    found = run(TimeWindow(S, None, slide=3), stream(S, (1.0, "a", 0), (1.0, "b", 3)))
    assert [len(copies(found, t)) for t in range(7)] == [0, 0, 1, 1, 1, 2, 2]


def test_granularity_holds_the_last_multiple() -> None:
    found = run(Granularity(S, 3), stream(S, (1.0, "a", 2), (1.0, "b", 3), (1.0, "c", 4)))
    assert {t: copies(found, t) for t in found} == {t: [(1.0, "b")] for t in (3, 4, 5)}
