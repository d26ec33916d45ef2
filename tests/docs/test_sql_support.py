"""The page on what of other systems' SQL is there: its examples run, or are refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.docs.pages import ROOT
from tests.sql.test_brought import answer

PAGE = (ROOT / "docs" / "sql-support.md").read_text("utf-8")
STATEMENTS = ("SELECT", "WITH", "FROM", "CREATE", "ISTREAM", "DESCRIBE", "EXPLAIN")
_CELLS = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Row:
    what: str
    source: str
    here: str
    example: str
    instead: str


def rows() -> list[Row]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    found = [[cell.strip().replace(r"\|", "|") for cell in _CELLS.split(x)[1:-1]] for x in lines]
    return [Row(*cells) for cells in found if cells[0] != "what"]


def remedies() -> list[str]:
    """The whole statements among what to write instead."""
    codes = [code for row in rows() for code in _CODE.findall(row.instead)]
    return [code for code in codes if code.startswith(STATEMENTS) and _is_whole(code)]


def _is_whole(code: str) -> bool:
    return " FROM " in code or code.startswith(("CREATE STREAM ", "DESCRIBE "))


def runs(sql: str) -> str:
    return answer(sql.strip("`"))


def test_every_row_says_yes_or_no() -> None:
    assert len(rows()) >= 100
    assert {row.here for row in rows()} == {"yes", "no"}
    assert {row.source for row in rows()} <= {
        *("both", "neither", "Spark", "Flink", "Materialize", "PostgreSQL")
    }
    assert not [row.what for row in rows() if row.here == "no" and not row.instead]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.what)
def test_the_example_is_true(row: Row) -> None:
    said = runs(row.example)
    if row.here == "yes":
        assert not said.startswith(("error", "warning")), said
    else:
        assert said.startswith("error: "), said
        assert "\nhelp: " in said


@pytest.mark.parametrize("sql", remedies())
def test_what_to_write_instead_runs(sql: str) -> None:
    said = runs(sql)
    assert not said.startswith(("error", "warning")), said
