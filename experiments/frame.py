"""What every experiment shares: options, and a page of words, tables and pictures.

Import it before Polars: measured is one core, so Polars is held to one thread.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("POLARS_MAX_THREADS", "1")

RESULTS = Path(__file__).parent / "results"
# A quick run is a trial: it does not replace the results that are kept.
QUICK_RESULTS = Path("build") / "experiments"

# Of the palette of Okabe and Ito, which can be told apart by all.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    quick: bool
    out: Path


def options(description: str | None, arguments: Sequence[str] | None = None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a trial: fewer rows and repetitions")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write the results")
    parsed = parser.parse_args(arguments)
    default = QUICK_RESULTS if parsed.quick else RESULTS
    return Options(parsed.quick, parsed.out or default)


@dataclass
class Page:
    """The results of one experiment, written to `NAME.md`, its pictures beside it."""

    name: str
    title: str
    options: Options
    _parts: list[str] = field(default_factory=list)

    def section(self, title: str) -> None:
        """Begin a section."""
        self._parts.append(f"## {title}")
        print(f"{self.name}: {title}", flush=True)

    def words(self, text: str) -> None:
        """A paragraph; lines are joined, so that they may be wrapped where they are written."""
        self._parts.append(" ".join(text.split()))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A table: numbers to the right, each as `number` writes it."""
        numeric = [all(not isinstance(row[at], str) for row in rows) for at in range(len(columns))]
        rule = ["--:" if right else "---" for right in numeric]
        lines = [columns, rule, *([number(cell) for cell in row] for row in rows)]
        self._parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))

    @contextmanager
    def picture(self, name: str, axes: int = 1) -> Iterator[Any]:
        """Axes to draw on, side by side; a list if there are several."""
        figure = _figure(axes)
        drawn = figure.subplots(1, axes)
        yield drawn
        for each in figure.axes:
            _tidy(each)
        self.options.out.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.options.out / f"{name}.png", dpi=100)
        self._parts.append(f"![{name}]({name}.png)")

    def write(self) -> None:
        """Write the page."""
        trial = " This was a quick run: few rows, rough numbers." if self.options.quick else ""
        machine = f"Python {platform.python_version()}, {platform.machine()}, one core.{trial}"
        self.options.out.mkdir(parents=True, exist_ok=True)
        path = self.options.out / f"{self.name}.md"
        path.write_text("\n\n".join([f"# {self.title}", machine, *self._parts]) + "\n", "utf-8")
        print(f"{self.name}: written to {path}", flush=True)


def number(cell: object) -> str:
    """A cell of a table: text as it is, numbers with three digits that count, at least.

    >>> number("a"), number(16000), number(47976.923), number(0.01234), number(None)
    ('a', '16,000', '47,977', '0.0123', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, float) and abs(cell) < 100:
        return f"{cell:.3g}"
    return f"{cell:,.0f}" if isinstance(cell, (int, float)) else str(cell)


def timed(action: Callable[[], object]) -> float:
    """How many seconds of one core an action took; what other programs did is not counted."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def same_ranking(first: Mapping[Any, float], second: Mapping[Any, float]) -> float:
    """Spearman's correlation of two rankings of the same things: 1 if they agree, −1 if opposite.

    >>> same_ranking({"a": 1, "b": 2, "c": 3}, {"a": 10, "b": 20, "c": 15})
    0.5
    """
    import numpy as np

    ranks = [_ranks([costs[key] for key in first]) for costs in (first, second)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    """The place of each value among all; equal values share the mean of their places."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def _figure(axes: int) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SystemExit(
            "error: to draw pictures, Matplotlib is needed\n"
            "help: run `make setup`, or `pip install 'tidemill[bench]'`"
        ) from None
    return Figure(figsize=(5.2 * axes, 3.8), layout="constrained")


def _tidy(axes: Any) -> None:
    axes.grid(color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, frameon=False)
