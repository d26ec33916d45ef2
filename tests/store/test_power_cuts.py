"""What is acknowledged survives a power cut, at whatever moment it comes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.random.graphs import Crash
from tests.simulation.disk import SimulatedDisk
from tests.store.lives import Life, Row, expected, rows_of
from tidemill.store import Store, using

PUSHES = 9


class Lived:
    """A life on a simulated disk, until the power goes with one of the changes that it makes."""

    def __init__(self, folder: Path, seed: int, cut_at: int | None = None) -> None:
        self.folder = folder / "run"
        (self.folder / "graph").mkdir(parents=True)  # locks are files of this machine
        self.disk = SimulatedDisk(str(folder), Random(seed))
        self.disk.cut_at = cut_at
        self.first = 0
        self.pushed: list[Row] = []
        self.acknowledged: list[Row] = []
        with using(self.disk), suppress(Crash):
            self._live()

    def _live(self) -> None:
        life = Life(self.folder)
        self.first = self.disk.changes + 1
        try:
            for number in range(PUSHES):
                self.pushed = self.acknowledged + rows_of(number)
                life.push(rows_of(number))
                self.acknowledged = self.pushed
                if number % 4 != 2:
                    life.tick()
        finally:
            life.close()

    def answers_after(self) -> object:
        """What a run says that begins after the power has come back."""
        self.disk.cut_power()
        self.disk.go_on()
        self.disk.cut_at = None
        with using(self.disk):
            life = Life(self.folder, "process")
            try:
                return life.answers()
            finally:
                life.close()


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> range:
    """The numbers of the changes that a life makes from its first push on."""
    whole = Lived(tmp_path_factory.mktemp("whole") / "folder", 0)
    assert whole.acknowledged == [row for number in range(PUSHES) for row in rows_of(number)]
    assert whole.answers_after() == expected(whole.acknowledged)
    return range(whole.first, whole.disk.changes + 1)


def _check(moments: range, seed: int, tmp_path: Path) -> None:
    cut_at = Random(seed).choice(moments)
    lived = Lived(tmp_path / str(seed), seed, cut_at)
    possible = [expected(lived.acknowledged), expected(lived.pushed)]
    assert lived.answers_after() in possible, f"seed {seed}, at {cut_at}"


@pytest.mark.parametrize("block", range(4))
def test_what_is_acknowledged_survives(moments: range, block: int, tmp_path: Path) -> None:
    for seed in range(10 * block, 10 * block + 10):
        _check(moments, seed, tmp_path)


@pytest.mark.slow
def test_what_is_acknowledged_survives_at_every_moment(moments: range, tmp_path: Path) -> None:
    for seed in range(100, 400):
        _check(moments, seed, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_without_syncs_a_file_may_be_lost(seed: int, tmp_path: Path) -> None:
    """The disk is as bad as it is meant to be, and syncs are what helps."""
    lost = {}
    for durability in ("process", "machine"):
        folder = tmp_path / durability
        folder.mkdir()
        disk = SimulatedDisk(str(folder), Random(seed))
        with using(disk):
            store = Store(f"{folder}/run", durability)
            store.put("a", b"x" * 100)
            whole = disk.read(store.path("a"))
            disk.cut_power()
            there = disk.exists(store.path("a"))
            lost[durability] = not there or disk.read(store.path("a")) != whole
    assert not lost["machine"]
    assert lost["process"] or seed, "with this seed, it is"
