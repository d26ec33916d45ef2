"""Charts of answers: what is chosen, where it is drawn, and that it is harmless."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.notebook.charts import step_chart
from tidemill.notebook.steps import ChartColumns, chosen

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("1")</script>&'


def answer(rows: list[tuple], **kinds: pa.DataType) -> pa.Table:
    """Rows with the columns `kinds`, then valid_from and valid_to."""
    schema = pa.schema({**kinds, "valid_from": pa.int64(), "valid_to": pa.int64()})
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def parsed(chart) -> ElementTree.Element:
    return ElementTree.fromstring(chart.svg)


def paths(chart) -> dict[str, str]:
    """By key, the path of its line."""
    return {
        path.findtext(f"{SVG}title"): path.get("d") for path in parsed(chart).iter(f"{SVG}path")
    }


def texts(chart) -> list[str]:
    return [text.text or "" for text in parsed(chart).iter(f"{SVG}text")]


def plotted(table: pa.Table, column=None, by=None, top=8):
    return step_chart(table, column, by, top)


TEXT, INT, FLOAT = pa.string(), pa.int64(), pa.float64()


@pytest.mark.parametrize(
    ("columns", "choice"),
    [
        ({"item": TEXT, "n": INT}, ChartColumns("n", ("item",))),
        ({"item": INT, "n": INT}, ChartColumns("n", ("item",))),
        ({"item": INT, "mean": FLOAT, "n": INT}, ChartColumns("mean", ("item",))),
        ({"n": INT}, ChartColumns("n", ())),
        ({"item": TEXT, "room": TEXT}, ChartColumns(None, ("item", "room"))),
        ({"at": pa.timestamp("us"), "price": pa.decimal128(9, 2)}, ChartColumns("price", ("at",))),
    ],
)
def test_what_is_drawn_if_nobody_says(columns, choice) -> None:
    assert chosen(answer([], **columns).schema, None, None) == choice


def test_a_line_is_level_while_a_row_holds_and_rises_where_the_next_follows() -> None:
    table = answer([("a", 1, 0, 10), ("a", 3, 10, 20), ("a", 1, 30, 40)], item=TEXT, n=INT)
    (path,) = paths(plotted(table)).values()
    assert re.sub(r"[\d. ]+", "", path) == "MHVHMH"
    xs = [float(x) for x in re.findall(r"H([\d.]+)", path)]
    assert xs == [233.0, 390.0, 704.0]  # a quarter, a half and all of the way from 76 to 704


def test_what_does_not_end_goes_on_to_the_right() -> None:
    table = answer([(1, 0, 10), (2, 10, None)], n=INT)
    (path,) = paths(plotted(table)).values()
    assert path.endswith("H704.0")


def test_one_line_for_each_key() -> None:
    rows = [(key, n, n, n + 1) for n in range(4) for key in "ba"]
    assert list(paths(plotted(answer(rows, item=TEXT, n=INT)))) == ["a", "b"]
    assert {"a", "b"} <= set(texts(plotted(answer(rows, item=TEXT, n=INT))))
    assert len(paths(plotted(answer(rows, item=TEXT, n=INT), by=[]))) == 1


def test_the_keys_with_the_most_rows_are_drawn() -> None:
    rows = [(f"k{key}", 1, at, at + 1) for key in range(5) for at in range(0, 2 * key + 2, 2)]
    chart = plotted(answer(rows, item=TEXT, n=INT), top=2)
    assert list(paths(chart)) == ["k3", "k4"]
    assert "3 more keys are not drawn (top=)" in texts(chart)


def test_of_many_rows_the_newest_are_drawn() -> None:
    chart = plotted(answer([(n, n, n + 1) for n in range(6_000)], n=INT))
    assert "the newest 5,000 of 6,000 rows are drawn" in texts(chart)
    assert len(chart.svg) < 200_000


def test_without_numbers_keys_have_lanes() -> None:
    chart = plotted(answer([("b", 0, 5), ("a", 2, None)], item=TEXT))
    upper, lower = (float(re.findall(r"M\S+ (\S+)", path)[0]) for path in paths(chart).values())
    assert list(paths(chart)) == ["a", "b"]
    assert upper < lower
    assert {"a", "b"} <= set(texts(chart))


@pytest.mark.parametrize(
    "values", [[None, 1.5], [float("nan"), 1.0], [float("inf"), -2.0], [1e300, -1e300], [5.0, 5.0]]
)
def test_values_that_cannot_be_drawn_leave_a_gap(values) -> None:
    table = answer([(v, n, n + 1) for n, v in enumerate(values)], v=FLOAT)
    chart = plotted(table)
    assert "nan" not in chart.svg
    assert "inf" not in chart.svg
    (path,) = paths(chart).values()
    assert all(10 <= float(y) <= 280 for y in re.findall(r"M\S+ (\S+)", path))


@pytest.mark.parametrize("rows", [[], [(None, 0, 1)]])
def test_no_rows(rows) -> None:
    chart = plotted(answer(rows, n=INT))
    assert texts(chart) == ["nothing to draw: no rows"]


def test_decimals_are_numbers() -> None:
    table = answer([(Decimal("1.50"), 0, 1), (Decimal("2.50"), 1, 2)], price=pa.decimal128(9, 2))
    assert "2.0" in texts(plotted(table))


def test_keys_are_escaped() -> None:
    chart = plotted(answer([(HOSTILE, 1, 0, 1)], **{HOSTILE: TEXT, "n": INT}))
    assert list(paths(chart)) == [HOSTILE]
    assert "<script" not in chart._repr_html_()


def test_texts_and_grids_have_the_colour_of_the_notebook() -> None:
    chart = plotted(answer([(1, 0, 1)], n=INT))
    assert parsed(chart).get("fill") == "currentColor"
    assert {line.get("stroke") for line in parsed(chart).iter(f"{SVG}line")} == {"currentColor"}


@pytest.mark.parametrize(
    ("column", "by", "top", "said"),
    [
        ("itm", None, 8, "did you mean `item`"),
        ("item", None, 8, "column `item` is STRING and has no height\nhelp: numbers: n"),
        (None, ["itm"], 8, "did you mean `item`"),
        (None, None, 0, "cannot have 0 lines"),
    ],
)
def test_what_cannot_be_drawn_is_refused(column, by, top, said) -> None:
    with pytest.raises(tm.TidemillError) as caught:
        plotted(answer([("a", 1, 0, 1)], item=TEXT, n=INT), column, by, top)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("length", "label"),
    [
        (timedelta(milliseconds=3), "09:00:00.001000"),
        (timedelta(minutes=1), "09:00:30"),
        (timedelta(hours=5), "03-01 10:00"),
        (timedelta(days=9), "2024-03-06"),
        (timedelta(days=4000), "2026-01-01"),
    ],
)
def test_times_have_round_marks(length, label) -> None:
    begin = datetime(2024, 3, 1, 9)
    kind = pa.timestamp("us")
    table = pa.table({"n": [1], "valid_from": [begin], "valid_to": [begin + length]}).cast(
        pa.schema({"n": INT, "valid_from": kind, "valid_to": kind})
    )
    assert label in texts(plotted(table))


def test_a_query_plots_its_answer(tmp_path) -> None:
    with tm.Engine(runtime="inprocess") as engine:
        rows = [{"item": item, "price": 30, "at": at} for at, item in enumerate(["a", "b", "a"])]
        engine.stream("bid", rows, time="at")
        query = engine.sql("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item")
        chart = query.plot("n", by="item")
        assert list(paths(chart)) == ["a", "b"]
        assert chart.svg in chart._repr_html_()
        chart.save(tmp_path / "chart.svg")
        assert (tmp_path / "chart.svg").read_text("utf-8") == chart.svg
