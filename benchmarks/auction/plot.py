"""The figures of a run as a picture: bars of events per second, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.auction.measure import Outcome
from tidemill.errors import TidemillError
from tidemill.nexmark.queries import QUERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
# Of the palette of Okabe and Ito, which can be told apart by all; the floor is no system.
_COLOURS = {
    "tidemill": "#0072B2",
    "floor": "#BBBBBB",
    "spark": "#E69F00",
    "spark-memory": "#F0E442",
    "flink": "#CC79A7",
    "flink over": "#D55E00",
    "inprocess": "#56B4E9",
}
_INCHES_PER_ROW = 0.2


def check(path: Path) -> None:
    """Refuse a picture that could not be drawn, before hours of measuring."""
    if path.suffix not in FORMATS:
        help = f"end the name with one of {', '.join(FORMATS)}"
        raise TidemillError(f"`{path}` is no picture that can be drawn", help=help)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        help = "run `pip install 'tidemill[bench]'`, or leave out --plot"
        raise TidemillError("to draw a picture, Matplotlib is needed", help=help) from None


def draw(outcomes: Sequence[Outcome], title: str, path: Path) -> None:
    """A group of bars for every query: a bar for every system, or for every case."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    shown = [outcome for outcome in outcomes if outcome.events_per_second is not None]
    rows = _rows(shown)
    figure = Figure(figsize=(9, 1.2 + _INCHES_PER_ROW * (len(rows) + 1)))
    axes = figure.add_subplot()
    axes.set_xscale("log")
    _bars(axes, rows)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("events per second, logarithmic")
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(axis="x", which="major", color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def _rows(outcomes: Sequence[Outcome]) -> list[Outcome | str]:
    """From top to bottom: the name of a query, then its outcomes."""
    rows: list[Outcome | str] = []
    for query, group in groupby(outcomes, key=lambda outcome: outcome.query):
        rows += [query, *group]
    return rows


def _bars(axes: Axes, rows: Sequence[Outcome | str]) -> None:
    outcomes = [row for row in rows if isinstance(row, Outcome)]
    colours = _colours(outcomes)
    speeds = [outcome.events_per_second or 1.0 for outcome in outcomes] or [1.0]
    # Bars need a beginning on a logarithmic axis, and their numbers some room at the end.
    axes.set_xlim(10 ** math.floor(math.log10(min(speeds)) - 0.3), max(speeds) * 3)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [_label(row) for row in rows], fontsize=8)
    axes.tick_params(axis="y", length=0)
    for place, (row, text) in enumerate(zip(rows, axes.get_yticklabels(), strict=True)):
        if isinstance(row, str):
            text.set_fontweight("bold")
            title = f" {QUERIES[row].title}"
            axes.text(axes.get_xlim()[0], place, title, va="center", fontsize=8, color="#555555")
            continue
        speed = row.events_per_second or 0.0
        axes.barh(place, speed, height=0.8, color=colours[_label(row)])
        number = f" {'< ' if row.gave_up else ''}{speed:,.0f}"
        axes.text(speed, place, number, va="center", fontsize=7)


def _label(row: Outcome | str) -> str:
    return row if isinstance(row, str) else row.case or row.system


def _colours(outcomes: Sequence[Outcome]) -> Mapping[str, str]:
    cases = dict.fromkeys(outcome.case for outcome in outcomes if outcome.case)
    return _COLOURS | dict.fromkeys(cases, _COLOURS["tidemill"])
