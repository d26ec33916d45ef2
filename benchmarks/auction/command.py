"""The command line of the auction benchmark: its options, and a run that shows what comes out."""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks._harness import option_parser
from benchmarks.auction.report import Kind, Report
from benchmarks.auction.run import Plan
from benchmarks.auction.runner import Runner
from benchmarks.auction.systems import System, choose_peers
from tidemill.errors import TidemillError
from tidemill.nexmark.queries import QUERIES, BenchmarkQuery
from tidemill.terminal.diagnostics import show

_PIPE_WIDTH = 160
_INTERRUPTED = 130  # what shells expect of a command that Ctrl-C has ended


@dataclass(frozen=True)
class Defaults:
    """What is measured if nothing else is asked for."""

    events: int
    queries: str
    peers: str = ""


def parser(description: str) -> ArgumentParser:
    """The options that all runs have; without a value, they are what the run has by default."""
    found = option_parser(description)
    found.add_argument("--events", type=int, metavar="N", help="how many rows in all streams")
    found.add_argument("--queries", metavar="NAMES", help="for example q1,counts")
    found.add_argument("--plot", type=Path, metavar="FILE", help="draw them: .png, .svg or .pdf")
    found.add_argument("--data", type=Path, metavar="FOLDER", help="keep the data and use it again")
    found.add_argument(
        "--limit",
        type=float,
        default=900.0,
        metavar="SECONDS",
        help="stop a system that takes longer for a query (%(default)s)",
    )
    return found


def run(kind: Kind, asked: Namespace, defaults: Defaults, compare: bool) -> None:
    """Measure what was asked for and show what came out, also if Ctrl-C comes before the end."""
    notes = Console(stderr=True, highlight=False)
    try:
        with _folder(asked.data) as folder:
            _measure(kind, _plan(asked, defaults, folder, compare), asked, notes)
    except TidemillError as error:
        show(notes, error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _plan(asked: Namespace, defaults: Defaults, folder: Path, compare: bool) -> Plan:
    events = defaults.events if asked.events is None else asked.events
    if events < 1:
        raise TidemillError(f"--events must be at least 1: {events}")
    queries = choose_queries(asked.queries or defaults.queries)
    return Plan(
        events=events,
        queries=[query for query in queries if asked.only in query.name],
        peers=_peers(asked, defaults),
        folder=folder,
        compare=compare,
        fewest_ticks=2 if asked.quick else 4,
    )


def choose_queries(names: str) -> list[BenchmarkQuery]:
    """The queries of a list such as `q1,counts`; an empty one means all."""
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(QUERIES)
    for name in wanted:
        if name not in QUERIES:
            raise TidemillError(f"no query `{name}`", help=f"queries: {', '.join(QUERIES)}")
    return [QUERIES[name] for name in wanted]


def _peers(asked: Namespace, defaults: Defaults) -> Sequence[System]:
    wanted = getattr(asked, "peers", None)
    return choose_peers(defaults.peers if wanted is None else wanted)


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    """The folder for the data, or one that is removed in the end."""
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
    else:
        with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder:
            yield Path(folder)


def _measure(kind: Kind, plan: Plan, asked: Namespace, notes: Console) -> None:
    began = time.monotonic()

    def note(text: str) -> None:
        notes.print(f"{time.monotonic() - began:7.1f} s  {text}", markup=False, soft_wrap=True)

    # One process for all queries starts only once, but has the memory of all of them.
    with Runner(limit=asked.limit, fresh=not asked.quick, note=note) as runner:
        report = Report(kind, plan, runner)
        try:
            report.measure(asked.json, asked.plot)
        except KeyboardInterrupt:
            note("interrupted")
            raise
        finally:
            if report.outcomes:
                _show(report)


def _show(report: Report) -> None:
    # Tables that go to a file or a pipe keep their width.
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(highlight=False, width=width).print(*report.tables(), report.summary(), sep="\n")
