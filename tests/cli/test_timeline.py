import pyarrow as pa

from tidemill.cli.timeline import Axis, Bar, Lane, lanes_of, picture

SECOND = 1_000_000


def draw(*bars: Bar, start: int = 0, end: int = 20) -> str:
    axis = Axis(start, end, end - start + 1, is_clock=False)
    return picture([Lane("", list(bars))], axis).plain.split("\n")[0][2:]


def test_bars() -> None:
    assert draw(Bar(2, 6)) == "  [━━━)"
    assert draw(Bar(2, 6), Bar(6, 9)) == "  [━━━[━━)"
    assert draw(Bar(2, None)) == "  [" + "━" * 17 + "→"
    assert draw(Bar(2, 3)) == "  ●"
    assert draw(Bar(2, 3, "sold")) == "  ● sold"


def test_bars_are_cut_at_the_edges() -> None:
    assert draw(Bar(2, 9), start=5) == "╺━━━)"
    assert draw(Bar(2, 9), end=5) == "  [━━→"
    assert draw(Bar(2, 4), start=5) == ""
    assert draw(Bar(22, 24)) == ""


def test_texts_are_written_where_they_fit() -> None:
    assert draw(Bar(0, 8, "12")) == "[━━12━━━)"
    assert draw(Bar(0, 3, "long")) == "[━━)"


def test_what_touches_and_says_the_same_is_one_bar() -> None:
    columns = {"n": [1, 1, 2, 2], "valid_from": [0, 2, 5, 8], "valid_to": [2, 5, 7, 9]}
    (lane,) = lanes_of(pa.table(columns), None, ["n"])
    assert [(bar.start, bar.end) for bar in lane.bars] == [(0, 5), (5, 7), (8, 9)]


def test_rows_that_overlap_get_lanes_of_their_own() -> None:
    columns = {"k": ["a", "a", "a"], "valid_from": [0, 2, 6], "valid_to": [5, 4, None]}
    lanes = lanes_of(pa.table(columns), "k", [])
    assert [[(bar.start, bar.end) for bar in lane.bars] for lane in lanes] == [
        [(0, 5), (6, None)],
        [(2, 4)],
    ]


def test_the_scale_shows_times() -> None:
    hour = Axis(0, 3600 * SECOND, 61)
    labels = picture([], hour).plain.split("\n")[1].split()
    assert labels == [f"00:{minute}0" for minute in range(6)] + ["01:00"]
    minute = Axis(0, 60 * SECOND, 61)
    assert "00:00:20" in picture([], minute).plain
