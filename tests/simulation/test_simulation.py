"""Lives of graphs in which everything goes wrong that can; `make fuzz` has more of them."""

from __future__ import annotations

import errno
import hashlib
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.random.graphs import Crash
from tests.simulation.case import Simulation, check_seed, real_folder
from tests.simulation.disk import SimulatedDisk
from tests.store.lives import Life, expected, rows_of
from tidemill.store import Part, Store, using

LIVES, BLOCKS = 120, 6
FIRST = 10_000
SOME_LIFE = 7

FOUND = {
    20000: "a query that could not be added, because the disk was full, ran all the same",
    20012: "a file that could not be read was an error of Python, without its name",
    20014: "queries failed for good because the disk was full when a relation was written",
    20029: "a slice that a killed process had left was read, but never synced",
    20045: "no query could be stopped after a tick that had failed",
    20058: "a retained slice was deleted that the last commit said was kept",
    20201: "a slice that a killed process had left without a mark was forgotten with its deletion",
    20436: "a folder that a killed process had made was never synced by the next one",
    2445: "a user aggregate was not known again after a restart, and began anew",
    2450: "the same",
    10175: "the same",
    20230: "the same",
    21106: "the same",
    20658: "who takes whose place was forgotten by a restart before the tick",
    10: "sizes that could not be set, because the disk was full, were told as if they were",
    2444: "a query began with the operators of another one, which was on its way to another plan",
    30150: "a migration did not know what a tick had brought that was still to be made again",
    40002: "after a restart, the sizes of the past were not those that had been set",
    40451: "rows could not be partitioned by a column that was compared with two others",
    50634: "after a restart, a size was set in the plan of a query and not in what ran of it",
    39: "a task that came too late deleted what the ticks after its own had left",
}
"""Counterexamples of the past, and what they were."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_nothing_is_lost_and_no_answer_is_wrong(block: int) -> None:
    for seed in range(FIRST + block, FIRST + LIVES, BLOCKS):
        check_seed(seed)


@pytest.mark.parametrize("seed", FOUND)
def test_counterexamples(seed: int) -> None:
    check_seed(seed)


def test_power_cuts_at_every_change() -> None:
    """Every write, sync, rename and deletion of a life is the last one once: some of them here."""
    for change in range(1, Simulation(SOME_LIFE, cut_at=-1).check() + 1, 7):
        Simulation(SOME_LIFE, cut_at=change).check()


def test_a_seed_decides_everything() -> None:
    def told(seed: int) -> str:
        life = Simulation(seed)
        life.check()
        # (Temporary files have names that nobody can guess.)
        lines = (line for line in life.story if "Errno" not in line)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    assert told(SOME_LIFE) == told(SOME_LIFE)


@pytest.mark.parametrize("cut_in", range(8))
def test_a_folder_whose_maker_was_killed_is_synced(cut_in: int) -> None:
    for seed in range(20):
        disk = SimulatedDisk(real_folder(), Random(seed))
        with using(disk):
            disk.cut_in = cut_in
            with suppress(Crash):
                Store(f"{disk.root}/run", "machine").put("a/b/c", b"one")
            disk.go_on()
            Store(f"{disk.root}/run", "machine").put("a/b/c", b"two")
            disk.cut_power()
            assert Store(f"{disk.root}/run").get("a/b/c") == b"two"


class FullFor(SimulatedDisk):
    """A disk without space for files of one kind, once for each."""

    kind = ""

    def write(self, path: str, parts: list[Part], private: bool = True) -> int:  # type: ignore[override]
        if self.kind and f"{self.kind}." in path:
            self.kind = ""
            raise OSError(errno.ENOSPC, "No space left on device", path)
        return super().write(path, parts, private)


@pytest.mark.parametrize("kind", [".begun", ".done", ".epoch", ".rows", ".snapshot", ".arrow"])
def test_a_tick_that_finds_the_disk_full_is_made_again(kind: str) -> None:
    disk = FullFor(real_folder(), Random(1))
    with using(disk):
        life, pushed = Life(_folder(disk)), []
        for number in range(6):
            life.push(rows_of(number))
            pushed += rows_of(number)
            disk.kind = kind
            try:
                life.graph.tick()
            except OSError:
                life.graph.tick()
            disk.kind = ""
        life.close()
        again = Life(_folder(disk))
        found = again.answers()
        again.close()
    assert found == expected(pushed)


def _folder(disk: SimulatedDisk) -> Path:
    folder = Path(f"{disk.root}/run")
    for name in ("results", "graph"):
        (folder / name).mkdir(exist_ok=True)  # for locks, which are real files
    return folder
