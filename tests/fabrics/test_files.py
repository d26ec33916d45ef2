"""Files as sources: by the declared columns, and nothing passed over in silence."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tests.fabrics.ground import Ground, everywhere

ROWS = "2024-03-01 12:00:00,lamp,3\n2024-03-01 12:01:00,vase,4\n"
HEADER = "at,item,price\n"


def answer(fabric: Ground, source: str) -> list[tuple[str, int, datetime]]:
    engine = fabric.engine()
    engine.sql(
        f"CREATE STREAM s (at TIMESTAMP, item STRING, price BIGINT) SOURCE {source} ORDERED BY at"
    )
    rows = query_of(engine, "SELECT item, price FROM s").collect().to_pylist()
    return [(row["item"], row["price"], row["valid_from"]) for row in rows]


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("bids.csv", HEADER + ROWS, ""),
        ("", HEADER + ROWS, ""),
        ("*.csv", HEADER + ROWS, ""),
        ("bids.csv", ROWS, ", header => FALSE"),
    ],
    ids=["file", "folder", "pattern", "no header"],
)
def test_csv(fabric: Ground, tmp_path: Path, name: str, text: str, options: str) -> None:
    (tmp_path / "bids.csv").write_text(text, "utf-8")
    rows = answer(fabric, f"csv(path => '{tmp_path / name}'{options})")
    noon = datetime(2024, 3, 1, 12)
    assert rows == [("lamp", 3, noon), ("vase", 4, noon.replace(minute=1))]


@everywhere
def test_times_are_those_of_utc_whatever_the_zone_of_the_session(
    fabric: Ground, tmp_path: Path
) -> None:
    (tmp_path / "bids.csv").write_text(HEADER + ROWS, "utf-8")
    if fabric.session is not None:
        fabric.session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        rows = answer(fabric, f"csv(path => '{tmp_path}')")
    finally:
        if fabric.session is not None:
            fabric.session.conf.set("spark.sql.session.timeZone", "UTC")
    assert rows[0] == ("lamp", 3, datetime(2024, 3, 1, 12))


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("csv", HEADER + "2024-03-01,lamp,much\n", "cannot read f of `s` as csv: .*much"),
        ("csv", "at,what,price\n2024-03-01,lamp,3\n", "cannot read f of `s` as csv: .*what"),
        ("csv", None, "no files for `s` at .*/f"),
        ("json", '{"at": "2024-03-01", "ite', "cannot read f of `s` as json: line 1: "),
    ],
    ids=["value", "header", "missing", "torn"],
)
def test_errors(
    fabric: Ground, tmp_path: Path, format: str, text: str | None, message: str
) -> None:
    file = tmp_path / "f"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises(tm.ExecutionError, match=message):
        answer(fabric, f"{format}(path => '{file}')")
