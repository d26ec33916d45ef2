"""What is acknowledged survives a power cut, at whatever moment it comes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.store.lives import Life, Row, expected, rows_of
from tests.store.power import RecordingDisk, power_cut
from tidemill.store import Store, using

PUSHES = 9


class Recorded:
    """A life on a disk that remembers, and how much of it was acknowledged when."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = RecordingDisk()
        self.acknowledged: list[tuple[int, list[Row]]] = [(0, [])]
        self.first = 0
        folder.mkdir()
        with using(self.disk):
            life = Life(folder)
            self.first = len(self.disk.operations)
            for number in range(PUSHES):
                life.push(rows_of(number))
                before = self.acknowledged[-1][1]
                count = len(self.disk.operations)
                self.acknowledged.append((count, before + rows_of(number)))
                if number % 4 != 2:
                    life.tick()
            life.close()

    def at(self, count: int) -> list[list[Row]]:
        """The rows that must be there, and with those that may be."""
        done = [number for number, (after, _) in enumerate(self.acknowledged) if after <= count]
        return [rows for _, rows in self.acknowledged[done[-1] : done[-1] + 2]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("recorded") / "folder")


def _check(recorded: Recorded, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    count = random.randrange(recorded.first, len(recorded.disk.operations) + 1)
    target = tmp_path / str(seed)
    power_cut(recorded.disk, count, recorded.folder, target, random)
    life = Life(target, "process")
    try:
        found = life.answers()
    finally:
        life.close()
    assert found in [expected(rows) for rows in recorded.at(count)], f"seed {seed}, after {count}"


@pytest.mark.parametrize("block", range(4))
def test_what_is_acknowledged_survives(recorded: Recorded, block: int, tmp_path: Path) -> None:
    for seed in range(10 * block, 10 * block + 10):
        _check(recorded, seed, tmp_path)


@pytest.mark.slow
def test_what_is_acknowledged_survives_at_every_moment(recorded: Recorded, tmp_path: Path) -> None:
    for seed in range(100, 400):
        _check(recorded, seed, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_without_syncs_a_file_may_be_lost(seed: int, tmp_path: Path) -> None:
    """The disk is as bad as it is meant to be, and syncs are what helps."""
    lost = []
    for durability in ("process", "machine"):
        disk, folder = RecordingDisk(), tmp_path / durability
        with using(disk):
            Store(str(folder), durability).put("a", b"x" * 100)
        target = tmp_path / f"{durability}-after"
        power_cut(disk, len(disk.operations), folder, target, Random(seed))
        whole = (folder / "a").read_bytes()
        lost.append(not (target / "a").exists() or (target / "a").read_bytes() != whole)
    assert not lost[1]
    assert lost[0] or seed, "with this seed, it is"
