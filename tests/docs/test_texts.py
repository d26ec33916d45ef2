"""The page on the papers: a line for everything that is numbered, and all places exist."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "texts.md").read_text()
SECTIONS = PAGE.split("\n## ")[1:]


def _numbers(chapter: int, last: int, first: int = 1) -> list[str]:
    return [f"{chapter}.{number}" for number in range(first, last + 1)]


PIPES = {
    "Definition": [*_numbers(6, 5), *_numbers(10, 5), *_numbers(12, 2), "20.1"],
    "Theorem": ["15.1"],
    "Property": _numbers(11, 6),
    "Lemma": ["10.1", "10.2", "12.1", *_numbers(15, 4), "20.1", "29.1"],
    "Algorithm": [
        "2",
        "3",
        "4",
        "6",
        "7",
        "8",
        "9",
        "10",
        "12",
        "13",
        "14",
        "15",
        "17",
        "18",
        "19",
        "22",
        "23",
        "24",
        "25",
        "26",
        "27",
    ],
    "Formula": [
        *_numbers(6, 2),
        *_numbers(8, 19),
        *_numbers(10, 12),
        "11.1",
        *_numbers(12, 3),
        "15.1",
        *_numbers(17, 4),
        *_numbers(20, 2),
        *_numbers(22, 56),
    ],
    "Example": [
        "6.1",
        *_numbers(7, 4),
        *_numbers(8, 12),
        *_numbers(10, 2),
        *_numbers(11, 14),
        *_numbers(12, 3),
        "14.1",
        *_numbers(17, 7),
        *_numbers(20, 3),
        "21.1",
        "28.1",
    ],
    "Figure": [
        "1.1",
        "4",
        *_numbers(6, 4),
        "7.1",
        *_numbers(9, 2),
        *_numbers(10, 2),
        *_numbers(11, 3),
        *_numbers(12, 2),
        *_numbers(13, 2),
        *_numbers(14, 11),
        "21.1",
        *_numbers(22, 4),
        *_numbers(24, 6),
        "28.1",
        "29.1",
        *_numbers(30, 3),
    ],
    "Table": [
        "1.1",
        *_numbers(8, 13),
        *_numbers(11, 15),
        "12.1",
        *_numbers(17, 4),
        *_numbers(20, 2),
        *_numbers(22, 7),
        "24.1",
    ],
}


def _counted(last: int) -> list[str]:
    return [str(number) for number in range(1, last + 1)]


EARLY = {
    "Definition": _counted(8),
    "Theorem": _counted(2),
    "Corollary": _counted(2),
    "Rule": ["1"],
    "Algorithm": ["1"],
    "Formula": _counted(26),
    "Example": _counted(4),
    "Figure": _counted(6),
}
TOPK = {
    "Definition": ["1"],
    "Lemma": ["1"],
    "Algorithm": _counted(2),
    "Figure": _counted(5),
    "Table": _counted(4),
}
JOINS = {"Figure": _counted(4), "Table": _counted(11)}
STARS = {"Formula": _counted(8), "Algorithm": _numbers(3, 3), "Figure": _counted(6)}
NUMBERED = {"Krämer": PIPES, "Tran": EARLY, "Haghani": TOPK, "Golab": JOINS, "Towne": STARS}


@pytest.mark.parametrize("author", NUMBERED)
def test_everything_numbered_has_one_line(author: str) -> None:
    (section,) = (each for each in SECTIONS if each.startswith(author))
    found = Counter(re.findall(r"^\| ([A-Z]\w+ [\d.]+) ", section, re.MULTILINE))
    expected = {f"{kind} {n}": 1 for kind, numbers in NUMBERED[author].items() for n in numbers}
    assert found == expected


def _cells() -> list[str]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    return [cell for line in lines for cell in line.strip("|").split("|")[1:]]


def test_all_places_exist() -> None:
    places = {word for cell in _cells() for word in re.findall(r"`([\w./]+/[\w./]+)`", cell)}
    roots = (ROOT, ROOT / "src" / "tidemill")
    missing = [place for place in places if not any((root / place).exists() for root in roots)]
    assert len(places) > 100
    assert not missing


def test_all_worked_examples_exist() -> None:
    names = {word for cell in _cells() for word in re.findall(r"`(\w[\w.]*[.\d_]\w*)`", cell)}
    known = {
        case["id"]
        for file in (ROOT / "tests" / "golden").glob("p*/*.json")
        for case in json.loads(file.read_text())["cases"]
    }
    words = {"valid_from", "valid_to", "assert_snapshots_equal", "snapshot_at"}
    methods = {"RowValidity.chronon", "LogicalStream.at", "instant_by_instant"}
    assert names - known <= words | methods, names - known
    assert len(names & known) > 100


def test_every_line_says_where_or_why() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z]\w+ \d", line)]
    silent = [line for line in rows if "`" not in line and "not ours" not in line]
    assert not silent, silent
