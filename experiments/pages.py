"""The pages of results, read again: their tables, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiments.frame import RESULTS

README = RESULTS.parent / "README.md"


@dataclass(frozen=True)
class Table:
    """A table of a page: the section that it is in, its columns, its rows."""

    section: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Cell:
    """A number of a page: in the row that begins with these cells, in a column by its place."""

    page: str
    section: str
    row: tuple[str, ...]
    column: int

    def read(self, folder: Path) -> str:
        for table in tables(folder / f"{self.page}.md"):
            if table.section.startswith(self.section) and self.column < len(table.columns):
                for row in table.rows:
                    if row[: len(self.row)] == self.row:
                        return row[self.column]
        raise LookupError(f"no such number in {self.page}: {self}")


@cache
def tables(page: Path) -> tuple[Table, ...]:
    """All tables of a page."""
    return tuple(_tables(page.read_text("utf-8")))


def _tables(text: str) -> Iterator[Table]:
    section = ""
    for part in text.split("\n\n"):
        if part.startswith("## "):
            section = part.removeprefix("## ").strip()
        elif part.startswith("| "):
            columns, _, *rows = (_cells(line) for line in part.strip().split("\n"))
            yield Table(section, columns, tuple(rows))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(
        cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")
    )


@dataclass(frozen=True)
class Experiment:
    """An experiment: its module and page, the paper that it is from, and what it repeats."""

    name: str
    paper: str
    title: str


def experiments() -> list[Experiment]:
    """All of them, in the order of the table of the README."""
    found, paper = [], ""
    for line in README.read_text("utf-8").splitlines():
        linked = re.search(r"\| \[(\w+)\]\(results/\1\.md\) \|$", line)
        if linked is not None:
            first, title, _ = _cells(line)
            paper = first or paper
            found.append(Experiment(linked[1], paper, title))
    return found
