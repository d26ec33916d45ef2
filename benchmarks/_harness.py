"""What every benchmark shares: options, timing, and a report as tables and as JSON.

Import it before Polars: goals are per core, so Polars is held to one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    import tidemill as tm

os.environ.setdefault("POLARS_MAX_THREADS", "1")


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    quick: bool
    json: Path | None
    only: str


def options(description: str, arguments: list[str] | None = None) -> Options:
    """Read the command line."""
    return Options(**vars(option_parser(description).parse_args(arguments)))


def option_parser(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer rows and repetitions")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases that contain TEXT")
    return parser


@dataclass(frozen=True)
class Figure:
    """One measured number. A goal is reached at or above `goal`, or below it if `less`."""

    case: str
    metric: str
    unit: str
    value: float
    live_rows: int | None = None
    goal: float | None = None
    less: bool = False

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value < self.goal if self.less else self.value >= self.goal


@dataclass
class Report:
    """All figures of a benchmark."""

    title: str
    settings: dict[str, object]
    figures: list[Figure] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """All figures as JSON, each with its goal and whether it was met."""
        machine = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        }
        rows = [{**asdict(figure), "met": figure.met} for figure in self.figures]
        content = {
            "title": self.title,
            "settings": self.settings,
            "machine": machine,
            "figures": rows,
        }
        path.write_text(json.dumps(content, indent=2) + "\n")

    def summary(self) -> str:
        goals = [figure.met for figure in self.figures if figure.met is not None]
        return f"{sum(goals)} of {len(goals)} goals met"


def best_times(runs: list[list[float]]) -> list[float]:
    """For every tick of a run the shortest time in which any repetition did it.

    All repetitions do the same work tick by tick, so what is above the shortest is disturbance.
    """
    return [min(tick) for tick in zip(*runs, strict=True)]


def timed(action: Callable[[], object]) -> float:
    """How many seconds of one core an action took, in whatever thread.

    Unlike a wall clock, this does not count the time in which other programs had the core.
    """
    begin = time.process_time()
    action()
    return time.process_time() - begin


def seconds_of(query: tm.Query, ticks: int) -> float:
    """From the end of the first tick to that of the last one that brings rows."""
    ends: dict[int, float] = {}
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as checkpoint:
        running = query.start("noop", checkpoint=checkpoint, available_now=True)
        while not running.await_termination(0.01):
            ends.setdefault(running.progress.ticks, time.perf_counter())
        ends.setdefault(running.progress.ticks, time.perf_counter())
    known = sorted(at for tick, at in ends.items() if 1 <= tick <= ticks)
    return known[-1] - known[0]


def show(table: Table | str) -> None:
    """Print a table or a line, at full width even into a pipe."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)


def verdict(text: str, met: bool | None) -> str:
    """A figure, coloured and marked by whether it met its goal."""
    if met is None:
        return text
    return f"[green]{text} ✓[/green]" if met else f"[red]{text} ✗[/red]"


def present(report: Report, title: str, asked: Options) -> None:
    """All figures as a table, how many goals were met, and JSON if it was asked for."""
    table = Table("case", "metric", "value", title=title)
    for figure in report.figures:
        text = f"{figure.value:.3f} {figure.unit}"
        table.add_row(figure.case, figure.metric, verdict(text, figure.met))
    show(table)
    print(report.summary())
    if asked.json:
        report.write(asked.json)
