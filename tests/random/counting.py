"""So many cases, counted, by workers beside each other: `python -m tests.fuzz --cases 1000000`."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import polars as pl
from rich.console import Console

from tests.random.combinations import Block

_EVERY = 60.0
"""Seconds between two lines about how it goes."""


@dataclass
class Counted:
    """How many cases survived, by fabric, and the files with those that did not."""

    started: float = field(default_factory=time.monotonic)
    cases: Counter[str] = field(default_factory=Counter)
    cpu_seconds: float = 0.0
    blocks: int = 0
    failed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total, wall = self.cases.total(), time.monotonic() - self.started
        parts = ", ".join(f"{n:,} {fabric}" for fabric, n in sorted(self.cases.items()))
        rates = f"{total / max(wall, 1e-9):.0f}/s, {total / max(self.cpu_seconds, 1e-9):.0f}"
        blocks = f"{self.blocks:,} blocks in {wall:,.0f} s"
        return (
            f"{total:,} cases survived ({parts}) in {blocks}; {rates} per second of a core; "
            f"{len(self.failed)} failures"
        )


def count_cases(wanted: int, workers: int, first: int, failures: Path) -> Counted:
    """Check blocks of cases from a seed on, until so many cases were run."""
    console, found, told = Console(), Counted(), time.monotonic()
    for block, seconds in _blocks(workers, first, found, wanted):
        found.cases += block.cases
        found.cpu_seconds += seconds
        found.blocks += 1
        for number, text in enumerate(block.failures):
            failures.mkdir(exist_ok=True)
            path = failures / f"block-{block.seed}-{number}.txt"
            path.write_text(text, "utf-8")
            found.failed.append(str(path))
            console.print(f"failed {path}: {text.splitlines()[-1][:200]}", markup=False)
        if time.monotonic() - told > _EVERY:
            told = time.monotonic()
            console.print(str(found), markup=False)
    console.print(str(found), markup=False)
    return found


def _blocks(workers: int, first: int, found: Counted, wanted: int) -> Iterator[tuple[Block, float]]:
    """Blocks as they are done; a few more are under way than there are workers."""
    seeds = count(first)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[tuple[Block, float]]] = set()
        while found.cases.total() + len(found.failed) < wanted:
            while len(waiting) < 2 * workers:
                waiting.add(pool.submit(_checked, next(seeds)))
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for each in done:
                yield each.result()
        for each in waiting:
            each.cancel()


def _checked(seed: int) -> tuple[Block, float]:
    """A block, and the seconds of a core that it took; one that cannot be made has failed, too."""
    began, block = time.process_time(), Block(seed)
    gc.disable()  # what a block leaves behind is cheaper to collect at once
    try:
        in_the_pool_of_polars(block.check)
    except Exception as error:
        block.failures.append(f"{block.again}\n\n{type(error).__name__}: {error}")
    gc.collect()
    return block, time.process_time() - began


def in_the_pool_of_polars(work: Callable[[], object]) -> None:
    """Work in a thread of Polars: from another one, each call of it waits for such a thread, which
    takes most of the time where rows are few."""
    failures: list[Exception] = []

    def column(values: pl.Series) -> pl.Series:
        try:
            work()
        except Exception as error:  # as it is: Polars would make another one of it
            failures.append(error)
        return values

    # A single expression might be computed here.
    pl.select(pl.lit(0).map_batches(column, return_dtype=pl.Int32), pl.lit(1).alias("other"))
    if failures:
        raise failures[0]
