"""Disks: power cuts at every change, lives in which all goes wrong, damaged files, no space."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.attack.tally import Tally
from tests.server.lives import gone_on, make_folder
from tests.simulation.case import Simulation
from tests.store.lives import Life, Row, expected, rows_of
from tests.store.test_damage import ALL, PUSHES, answers, damaged, live, names_the_file
from tidemill import TidemillError

GoOn = Callable[[Path], object]
"""What is said when something goes on with a folder."""


def power_cuts(tally: Tally, share: float, seed: int) -> None:
    """Every write, sync, rename and deletion of some lives is the last one once."""
    most = max(1, round(4000 * share))
    while tally.tries < most:
        changes = Simulation(seed, cut_at=-1).check()
        for change in range(1, changes + 1):
            tally.try_("power cut", lambda: _lives(Simulation(seed, change)))  # noqa: B023
        seed += 1


def lives(tally: Tally, share: float, seed: int) -> None:
    """Everything goes wrong at once: cuts, kills, full disks, read errors, tasks that are lost."""
    for each in range(seed, seed + max(1, round(8000 * share))):
        tally.try_("life", lambda: _lives(Simulation(each)))  # noqa: B023


def _lives(life: Simulation) -> bool:
    life.check()
    return False


def damages(tally: Tally, share: float, seed: int) -> None:
    """Flips, cuts, deletions, other contents: of all files of a folder, one at a time."""
    with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as place:
        folder = Path(place) / "folder"
        live(folder, 0, PUSHES, ends=True)
        count = max(1, round(2500 * share))
        _damage(tally, folder, Random(seed), count, answers, expected(ALL))


def server_damages(tally: Tally, share: float, seed: int) -> None:
    """The same for the folder of a server: catalog, logs of relations, answers that were kept."""
    with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as place:
        folder, whole = Path(place) / "folder", Path(place) / "whole"
        make_folder(folder)
        make_folder(whole)
        _damage(tally, folder, Random(seed), max(1, round(1500 * share)), gone_on, gone_on(whole))


def _damage(
    tally: Tally, folder: Path, random: Random, count: int, go_on: GoOn, wanted: object
) -> None:
    for number in range(count):
        target = folder.parent / "damaged"
        file, kind = damaged(folder, target, Random(random.random()))
        what = f"damage {number}, {kind} of {file.relative_to(target)}"
        tally.try_(what, lambda: _told(go_on, target, file, wanted))  # noqa: B023
        subprocess.run(["rm", "-rf", str(target)], check=True)


def _told(go_on: GoOn, target: Path, file: Path, wanted: object) -> bool:
    try:
        found = go_on(target)
    except TidemillError as error:
        if not names_the_file(error, file):
            raise AssertionError(f"the file is not named: {error}") from error
        return True
    assert found == wanted, "the answers are wrong"
    return False


def full_disks(tally: Tally, share: float, seed: int) -> None:
    """A disk that becomes full at any moment, and has space again later."""
    with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as place:
        mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tidemill-attack", place]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise OSError("no small disk can be mounted here: run it as root")
        try:
            for number in range(max(1, round(300 * share))):
                random = Random(seed * 10**6 + number)
                tally.try_(f"full disk {number}", lambda: _full(Path(place), random))  # noqa: B023
                subprocess.run(["rm", "-rf", f"{place}/folder"], check=True)
        finally:
            # Files may be mapped into memory until nobody remembers them.
            subprocess.run(["umount", "--lazy", place], check=True)


def _full(place: Path, random: Random) -> bool:
    """Whether it was told: rows that were acknowledged count, and no others."""
    life, rows, told = Life(place / "folder"), list[Row](), False
    first, last = random.randrange(1, 8), random.randrange(8, 12)
    try:
        for number in range(16):
            if number == first:
                _fill(place, random)
            if number == last:
                (place / "filler").unlink()
            try:
                life.push(rows_of(number))
                rows += rows_of(number)
            except (OSError, TidemillError):
                told = True
            told |= _ticks(life)
    finally:
        (place / "filler").unlink(missing_ok=True)
        life.close()
    assert _answers(place) == expected(rows), "the answers are wrong"
    return told


def _ticks(life: Life) -> bool:
    try:
        life.graph.tick()
    except (OSError, TidemillError):
        return True
    life.refuse_failures()
    return False


def _fill(place: Path, random: Random) -> None:
    """Leave so little space that some writes fail."""
    space = os.statvfs(place)
    left = random.choice([0, 0, 4096, 8192, 20_000])
    size = max(0, space.f_bavail * space.f_bsize - left)
    with (place / "filler").open("wb") as file:
        file.write(bytes(size))


def _answers(place: Path) -> object:
    life = Life(place / "folder")
    try:
        return life.answers()
    finally:
        life.close()
