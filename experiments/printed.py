"""The numbers that the texts print, and where ours are: in which table of which page.

Most figures of the texts are pictures without numbers. What can be read off them is compared in
words, page by page; here is what the texts tell in numbers, in tables or in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments.pages import Cell


@dataclass(frozen=True)
class Printed:
    """A number of a text: where, what it counts, its value, and the cell that has ours."""

    place: str
    what: str
    text: str | Cell
    ours: Cell

    def value(self, folder: Path) -> str:
        return self.text.read(folder) if isinstance(self.text, Cell) else self.text


def printed() -> list[Printed]:
    """All of them, in the order of the texts' years."""
    return [*_multijoin(), *_signs(), *_rankings(), *_stars()]


_ORDERS = {
    "Table 5": (("S1 S2 S3 S4", "16,000"), ("S4 S3 S2 S1", "86,850")),
    "Table 6": (("S2 S1 S3 S4", "80,400"), ("S4 S3 S1 S2", "646,050")),
    "Table 7": (("S3 S1 S4 S2", "47,977"), ("S2 S1 S3 S4", "79,000")),
}


def _multijoin() -> Iterator[Printed]:
    text = "Golab and Özsu"
    for table, (best, worst) in _ORDERS.items():
        for name, (order, cost) in (("best", best), ("worst", worst)):
            ours = Cell("multijoin_tables", table, (order,), 1)
            yield Printed(f"{text}, {table}", f"cost of the {name} order, {order}", cost, ours)
    for algorithm in ("nested loop", "hash, 5 buckets"):
        for when in ("with every row", "every 5", "every 10"):
            for what, column in (("best order", 2), ("worst order", 3)):
                row = (algorithm, when)
                yield Printed(
                    f"{text}, Table 8",
                    f"rows per second, {algorithm}, evaluated {when}, {what}",
                    Cell("multijoin_tables", "Table 8", row, column),
                    Cell("multijoin_tables", "Table 8", row, column + 3),
                )


def _signs() -> Iterator[Printed]:
    for window, elements in (("now", "6"), ("10 minutes", "97"), ("5 hours", "2,880")):
        ours = Cell("signs_figures", "Figure 14.4", (window,), 2)
        yield Printed(
            "Krämer, Figure 14.4", f"elements that a window of {window} keeps", elements, ours
        )
    queues = (("10", "input", "1"), ("10", "output", "0.5"), ("11", "output", "5"))
    for figure, place, size in queues:
        ours = Cell("signs_queues", f"Figure 14.{figure}:", (place,), 1)
        where = f"Krämer, Figure 14.{figure}"
        yield Printed(where, f"mean size of the queue of a join, at the {place}", size, ours)


_KEPT = (("kept exactly", 2), ("kept approximately", 3), ("precision", 5))


def _rankings() -> Iterator[Printed]:
    pages = (
        ("topk_tables", "Table 1", "streams", ("3", "4", "6"), "W/2 rows, C = 167"),
        ("topk_tables", "Table 2", "k", ("10", "20", "50", "100"), "W/2 rows, C = 167"),
        ("topk_weblog", "Table 3", "servers", ("2", "3", "4"), "ours"),
        ("topk_weblog", "Table 4", "W", ("500", "750", "1,000"), "ours"),
    )
    for page, table, what, keys, own in pages:
        for key in keys:
            for kept, column in _KEPT:
                text, ours = (
                    Cell(page, table, (key, label), column) for label in ("the text", own)
                )
                yield Printed(f"Haghani et al., {table}", f"{kept}, {what} = {key}", text, ours)


def _stars() -> Iterator[Printed]:
    section = "All graphs together"
    for what, value, column in (("importance", "38", 1), ("results", "11", 2)):
        ours = Cell("star_figure2", section, ("together",), column)
        yield Printed("Towne et al., Figures 2 and 3", f"the optimum: {what}", value, ours)
    names = (("OSSJ", "importance", 3), ("OSSJ", "results", 4), ("SJA-S", "importance", 5))
    for policy, what, column in (*names, ("SJA-S", "results", 6)):
        text, ours = (
            Cell("star_figure4", "What the text does not say", row, column)
            for row in (("the text",), ("90", "90", "8"))
        )
        yield Printed("Towne et al., Figure 4", f"{policy}, M = 4: {what}", text, ours)
