"""`tidemill bench`: Tidemill against other systems, and against itself with more to do."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported

if TYPE_CHECKING:
    from tidemill.nexmark.bench.report import Kind, Report
    from tidemill.nexmark.bench.run import Plan

# What needs Spark is imported where it is used: other commands start faster without it.

bench = typer.Typer(help="Measure Tidemill.", no_args_is_help=True)
_PIPE_WIDTH = 160

Events = Annotated[int, typer.Option(min=1, help="How many rows in all streams.")]
Queries = Annotated[str, typer.Option(help="For example q1,counts.")]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write all figures to a file, while they come."),
]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw them: .png, .svg or .pdf.")
]
Data = Annotated[Path | None, typer.Option(help="Keep the data in a folder and use it again.")]
Limit = Annotated[
    float | None,
    typer.Option(min=1, metavar="SECONDS", help="Stop a system that takes longer for a query."),
]


@bench.callback()
def _bench() -> None:
    """Measure Tidemill."""


@bench.command()
def nexmark(
    events: Events = 1_000_000,
    queries: Queries = "",
    peers: Annotated[
        str, typer.Option(help="Of spark, spark-memory, flink and inprocess.")
    ] = "spark,inprocess",
    json_file: JsonFile = None,
    plot_file: PlotFile = None,
    data: Data = None,
    limit: Limit = None,
) -> None:
    """Run the queries of the auction benchmark in Tidemill and in other systems.

    All read the same rows, one after the other, each in a process of its own on two cores;
    start-up is not measured. Flink needs `make bench-peers` once.
    """
    from tidemill.nexmark.bench.report import AUCTION
    from tidemill.nexmark.bench.run import Plan
    from tidemill.nexmark.bench.systems import choose_peers
    from tidemill.nexmark.queries import choose

    notes = Console(stderr=True, highlight=False)
    with reported(notes), _folder(data) as folder:
        plan = Plan(events, choose(queries), choose_peers(peers), folder)
        _measure(AUCTION, plan, limit, notes, json_file, plot_file)


@bench.command()
def growth(
    events: Events = 100_000,
    queries: Queries = "counts,sellers",
    json_file: JsonFile = None,
    plot_file: PlotFile = None,
    data: Data = None,
    limit: Limit = None,
) -> None:
    """Run queries with windows × 10 and × 100, events × 10, one partition, and two executors.

    Every case differs from the first in one thing.
    """
    from tidemill.nexmark.bench.report import GROWTH
    from tidemill.nexmark.bench.run import Plan
    from tidemill.nexmark.queries import choose

    notes = Console(stderr=True, highlight=False)
    with reported(notes), _folder(data) as folder:
        plan = Plan(events, choose(queries), (), folder, compare=False)
        _measure(GROWTH, plan, limit, notes, json_file, plot_file)


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    """The folder for the data, or one that is removed in the end."""
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
    else:
        with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder:
            yield Path(folder)


def _measure(
    kind: Kind,
    plan: Plan,
    limit: float | None,
    notes: Console,
    json_file: Path | None,
    plot_file: Path | None,
) -> None:
    """Measure and show what came out, also if Ctrl-C comes before the end."""
    from tidemill.nexmark.bench.report import Report
    from tidemill.nexmark.bench.runner import Runner

    began = time.monotonic()

    def note(text: str) -> None:
        notes.print(f"{time.monotonic() - began:7.1f} s  {text}", markup=False, soft_wrap=True)

    with Runner(limit=limit, note=note) as runner:
        report = Report(kind, plan, runner)
        try:
            report.measure(json_file, plot_file)
        except KeyboardInterrupt:
            note("interrupted")
            raise typer.Exit(130) from None
        finally:
            if report.outcomes:
                _show(report)


def _show(report: Report) -> None:
    # Tables that go to a file or a pipe keep their width.
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(highlight=False, width=width).print(*report.tables(), report.summary(), sep="\n")
