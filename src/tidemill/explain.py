"""What explain shows: the lines of a plan, with words and numbers beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from tidemill.errors import PlanWarning


class Level(StrEnum):
    """Which plan."""

    LOGICAL = "logical"
    OPTIMIZED = "optimized"
    VERBOSE = "verbose"
    PHYSICAL = "physical"
    STAGES = "stages"
    COST = "cost"


@dataclass(frozen=True)
class PlanLine:
    """An operator with its number and how deep it stands; without a number, words of their own.

    `cells` are what stands beside it in a table.
    """

    operator: str
    details: str = ""
    depth: int = 0
    number: int | None = None
    cells: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The operator and its details."""
        return f"{self.operator} {self.details}".rstrip()


def numbered(operators: Iterable[tuple[int, str, str]]) -> tuple[PlanLine, ...]:
    """The lines of a plan: depth, name and details of each operator, from the top."""
    return tuple(
        PlanLine(operator, details, depth, number)
        for number, (depth, operator, details) in enumerate(operators, 1)
    )


@dataclass(frozen=True)
class Explanation:
    """A plan at a level, and what the planner wants to be known of it.

    >>> lines = numbered([(0, "Filter", "price > 9"), (1, "Scan", "bid")])
    >>> print(Explanation("logical", lines))
    logical
    01 Filter price > 9
    02   Scan bid
    """

    level: str
    lines: tuple[PlanLine, ...]
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def is_tree(self) -> bool:
        """Whether it is one plan and nothing else, and can be drawn."""
        return all(line.number is not None and not line.cells for line in self.lines)

    @property
    def body(self) -> str:
        """The lines as text, without a title and warnings."""
        return "\n".join(text_of(self.lines))

    @property
    def text(self) -> str:
        """Everything as text."""
        return "\n".join([self.level, self.body, *map(str, self.warnings)])

    def __str__(self) -> str:
        return self.text


def text_of(lines: Sequence[PlanLine]) -> Iterator[str]:
    """One numbered operator per line, inputs indented; numbers begin again after words."""
    for _, part in groupby(lines, lambda line: bool(line.cells)):
        found = list(part)
        texts = list(_labels(found))
        yield from _aligned(texts, found) if found[0].cells else texts


def _labels(lines: Iterable[PlanLine]) -> Iterator[str]:
    for is_plan, part in groupby(lines, lambda line: line.number is not None):
        plan = list(part)
        width = max(2, len(str(len(plan))))
        for line in plan:
            number = f"{line.number:0{width}d} " if is_plan else ""
            yield number + "  " * line.depth + line.label


_WIDEST = 60
"""In a table, longer descriptions of operators are cut."""


def _aligned(texts: Iterable[str], lines: Sequence[PlanLine]) -> Iterator[str]:
    """
    >>> lines = [PlanLine("a", cells=("10",)), PlanLine("total", cells=("7",))]
    >>> list(_aligned(["a", "total"], lines))
    ['a      10', 'total   7']
    """
    cut = [text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…" for text in texts]
    first = max(map(len, cut))
    widths = [max(map(len, column)) for column in zip(*(line.cells for line in lines), strict=True)]
    for text, line in zip(cut, lines, strict=True):
        cells = (cell.rjust(width) for cell, width in zip(line.cells, widths, strict=True))
        yield "  ".join([text.ljust(first), *cells]).rstrip()
