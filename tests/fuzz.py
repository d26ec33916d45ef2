"""Random cases against the reference, until stopped: `python -m tests.fuzz`, or `make fuzz`.

Every seed is a case. A failing one is written to a file with its query and its data, and the
run goes on. Ctrl-C ends it and says how many cases survived.

With `--cases N`, that many small cases are counted instead: random queries that run together on
random rows, in many splits, orders, partitions and fabrics (`tests/random/combinations.py`).
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from types import FrameType

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tests.random.cases import CASES, check_seed
from tests.random.counting import count_cases
from tests.simulation.case import check_seed as check_life

KINDS = [*CASES, "simulation"]
FAILURES = Path("fuzz-failures")
LONGEST = 300  # seconds that a case may take


@dataclass
class Tally:
    """How a run is going."""

    started: float = field(default_factory=time.monotonic)
    survived: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def line(self, seed: int) -> Text:
        """One line about everything so far."""
        seconds = max(time.monotonic() - self.started, 0.001)
        cases = self.survived.total() + len(self.failed)
        text = Text(f"{self.survived.total():,} cases survived", style="bold")
        parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.survived.items()))
        text.append(f" ({parts})  {cases / seconds:.1f}/s  seed {seed}  ", style="not bold")
        style = "bold red" if self.failed else "green"
        text.append(f"{len(self.failed)} failures", style=style)
        return text


def main(arguments: list[str] | None = None) -> int:
    """Run, and return 1 if anything failed."""
    options = _options(arguments)
    first = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    if options.cases is not None:
        counted = count_cases(options.cases, options.workers, first, FAILURES)
        return 1 if counted.failed else 0
    kinds = KINDS if options.kind == "all" else [options.kind]
    console, tally = Console(), Tally()
    seed = first
    try:
        with Live(console=console, refresh_per_second=4) as live:
            for kind, seed in _cases(kinds, first, options):
                _run(kind, seed, tally, console)
                live.update(tally.line(seed))
    except KeyboardInterrupt:
        console.print("stopped")
    console.print(tally.line(seed))
    for path in tally.failed:
        console.print(f"  {path}")
    return 1 if tally.failed else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--seed", type=int, help="the first seed; a fresh one if not given")
    parser.add_argument("--count", type=int, help="stop after so many cases")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--cases", type=int, help="count small cases until there were so many")
    parser.add_argument("--workers", type=int, default=1, help="processes that count cases")
    return parser.parse_args(arguments)


def _cases(kinds: list[str], first: int, options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Kinds in turn, each with the next seed."""
    end = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    for number, kind in enumerate(islice(cycle(kinds), options.count)):
        if end is not None and time.monotonic() > end:
            return
        yield kind, first + number // len(kinds)


def _run(kind: str, seed: int, tally: Tally, console: Console) -> None:
    try:
        with _limit(LONGEST):
            check_life(seed) if kind == "simulation" else check_seed(kind, seed)
        tally.survived[kind] += 1
    except Exception as error:
        FAILURES.mkdir(exist_ok=True)
        path = FAILURES / f"{kind}-{seed}.txt"
        path.write_text(f"{error}\n\n{traceback.format_exc()}", "utf-8")
        tally.failed.append(str(path))
        console.print(f"[red]failed[/red] {path}: {str(error).splitlines()[-1][:200]}", markup=True)


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    """Give up on a case that takes too long, where the system can tell us."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it took longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main())
