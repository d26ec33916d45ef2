"""docs/capabilities.md, made of what is declared here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.matrix.cells import Capability, Group
from tests.matrix.groups import GROUPS
from tests.matrix.ways import FABRICS, WAYS

_SHORT = {"inprocess": "P", "spark": "S"}

_HEAD = """# What works where

All queries run in the same way, so every feature works however a query is started, in process (P)
and on Spark (S). This page is generated from tests: `tests/matrix` tries every cell of these tables
with real rows, files, servers and databases, and compares the whole answer. Where a feature makes
no sense, the cell has a number, and the reason is below; the tests check these cells, too.

Queries can be started by:

- `collect()`: the rows of a query whose input ends
- `q.start()`: a query in a graph of its own
- `engine.start(a, b)`: several queries in a graph of their own
- `engine.run()`, then `q.start()`: queries that join the running graph of the engine
- `tidemill serve`: the same over HTTP
"""

_ANCHOR = "what-does-not-apply-and-why"

_NAMES = {
    "collect": "`collect`",
    "start": "`start`",
    "several": "`start(a, b)`",
    "graph": "`run`",
    "server": "`serve`",
}


class Footnotes:
    """Reasons, numbered in the order in which they are first needed."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, reason: str) -> int:
        return self._numbers.setdefault(reason, len(self._numbers) + 1)

    def lines(self) -> Iterator[str]:
        """The reasons, and where the numbers lead."""
        yield from (f"{number}. {reason}" for reason, number in self._numbers.items())
        yield ""
        yield from (f"[{number}]: #{_ANCHOR}" for number in self._numbers.values())


def page() -> str:
    """The whole page."""
    notes = Footnotes()
    parts = [_HEAD, *(_table(group, notes) for group in GROUPS)]
    reasons = ["## What does not apply, and why", "", *notes.lines(), ""]
    return "\n".join([*parts, *reasons])


def _table(group: Group, notes: Footnotes) -> str:
    columns = [f"{_NAMES[way.name]} {_SHORT[fabric]}" for way in WAYS for fabric in FABRICS]
    head = [_line(["", *columns]), _line(["---", *[":-:"] * len(columns)])]
    rows = [_line([row.name, *_cells(row, notes)]) for row in group.rows]
    return "\n".join([f"## {group.title}", "", *head, *rows, ""])


def _cells(row: Capability, notes: Footnotes) -> Iterator[str]:
    for way in WAYS:
        for fabric in FABRICS:
            refusal = row.refusal(way.name, fabric)
            yield "yes" if refusal is None else f"[{notes.number(refusal.reason)}]"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
