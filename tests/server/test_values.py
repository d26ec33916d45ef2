"""Values that a column cannot hold are refused, with row and column, wherever they come from."""

import pytest

from tests.server.conftest import serving

SCRIPT = """
CREATE STREAM s (b BIGINT, f FLOAT, x STRUCT<a: BIGINT>, w TIMESTAMP, m DECIMAL(4, 2), at BIGINT)
    ORDERED BY at;
CREATE STREAM timed (v INT, ts TIMESTAMP) ORDERED BY ts;
CREATE RELATION r (b BIGINT, f FLOAT, x STRUCT<a: BIGINT>, m DECIMAL(4, 2)) CHANGING
"""

WRONG = [
    ("b", 1.5),
    ("f", 1e300),
    ("x", {"a": 1, "zz": 2}),
    ("x", {"a": 1.5}),
    ("w", 2**62),
    ("w", "2024-01-01T00:00:00.123456789"),
    ("m", 1.234),
    ("at", 2.5),
]


@pytest.fixture(scope="module")
def server():
    yield from serving(script=SCRIPT)


@pytest.mark.parametrize(("column", "value"), WRONG)
def test_pushed_rows(server, column, value):
    rows = [{"at": 1}, {"at": 2, column: value}]
    error = server.post("streams/s/rows", rows, status=400)["error"]
    assert error["message"].startswith(f"column `{column}`, row 2: ")
    assert server.post("streams/s/rows", [{"at": 1}])["rows"] == 1


def test_a_time_of_no_year(server):
    error = server.post("streams/timed/rows", [{"v": 1, "ts": 2**62}], status=400)["error"]
    assert error["message"].startswith("column `ts`, row 1: ")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("b", "1.5"),
        ("f", "1e300"),
        ("x", "named_struct('a', 1, 'zz', 2)"),
        ("x", "named_struct('a', 1.5)"),
        ("m", "1.234"),
    ],
)
def test_inserted_rows(server, column, value):
    text = f"INSERT INTO r ({column}) VALUES (NULL), ({value})"
    error = server.run(text, status=400)["error"]
    assert f"`{column}` is " in error["message"]
    assert (error["line"], error["column"]) == (1, text.rindex(f"({value}") + 2)


def test_inserted_rows_that_fit(server):
    server.run("INSERT INTO r (b, f, x, m) VALUES (CAST(1.5 AS BIGINT), 1.5, NULL, 1)")
