"""When groups are ranked approximately, and what is said when they are not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tidemill as tm

COLUMNS = pa.schema({"plate": pa.int64(), "speed": pa.float64(), "at": pa.int64()})
FIRST = """SELECT {hint} plate, SUM(speed) AS score FROM car WINDOW(RANGE {size})
    GROUP BY plate ORDER BY score DESC LIMIT 3 {approximate}"""


def explained(
    hint: str = "", *, approximate: bool = True, size: int = 5, promised: bool = True
) -> str:
    engine = tm.Engine("inprocess")
    promise = {"plate": 3} if promised else None
    ranges = {"speed": (0, 400)}
    engine.stream("car", COLUMNS, time="at", ranges=ranges, at_most=promise)
    allowed = "APPROXIMATE" if approximate else ""
    query = engine.sql(FIRST.format(hint=hint, approximate=allowed, size=size))
    assert query is not None
    return str(query.explain("verbose"))


def test_it_is_used_where_it_costs_least() -> None:
    text = explained(size=600_000)
    assert "Ranking approximate" in text
    assert "is not used" not in text


def test_it_can_be_forced() -> None:
    assert "Ranking approximate" in explained("/*+ RANK(approximate) */")


@pytest.mark.parametrize(
    ("hint", "promised", "reason"),
    [
        ("", True, "costs less; /*+ RANK(approximate) */ overrides that"),
        ("/*+ RANK(eaa) */", True, "the hint RANK(eaa) wants it so"),
        ("", False, "nobody knows how far scores can rise"),
    ],
)
def test_it_is_said_why_it_is_not_used(hint: str, promised: bool, reason: str) -> None:
    text = explained(hint, promised=promised)
    assert f"APPROXIMATE is not used: {reason}" in text.replace("sla ", "").replace("plain ", "")


def test_without_promises_it_cannot_be_forced() -> None:
    text = explained("/*+ RANK(approximate) */", promised=False)
    assert "not ranked: nobody knows how far scores can rise" in text


def test_a_hint_gives_no_permission() -> None:
    text = explained("/*+ RANK(approximate) */", approximate=False)
    assert "Ranking" not in text
    assert "write APPROXIMATE behind LIMIT" in text
