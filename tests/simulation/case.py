"""Random lives in a simulation: one seed decides everything."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from functools import cache
from random import Random

from tests.random.cases import random_inputs
from tests.random.graphs import GraphCase, random_graph
from tests.simulation.disk import SimulatedDisk
from tests.simulation.life import SimulatedLife
from tidemill.store import using

_NEW = 60_000
"""Seeds before that mean what they meant when they were found to be counterexamples."""

_STEPS = 30
"""Things that are done in a life, at most."""


@dataclass
class Simulation:
    """The life of a seed, in which anything goes wrong at any time.

    With `cut_at`, only the power goes, at the change of the disk with that number.
    """

    seed: int
    cut_at: int | None = None
    story: list[str] = field(default_factory=list)

    def check(self) -> int:
        """Fail unless all is well whatever went wrong; how many changes the disk saw."""
        random = Random(self.seed)
        is_new = self.seed >= _NEW
        inputs = random_inputs(random, latest=12, rows=(3, 9), ahead=is_new)
        case = random_graph(random, inputs)
        disk = SimulatedDisk(real_folder(), random, has_stamps=is_new)
        with using(disk):
            self._check(case, disk, random)
        return disk.changes

    def _check(self, case: GraphCase, disk: SimulatedDisk, random: Random) -> None:
        disk.cut_at = self.cut_at
        life = SimulatedLife(case.inputs, random, disk, kills=self.cut_at is None)
        self.story = life.story
        try:
            self._live(case, life, random)
            life.end()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise AssertionError("\n".join([self.again, reason, *life.story])) from error
        finally:
            life.close()

    @property
    def again(self) -> str:
        """How to see it once more."""
        if self.cut_at is not None:
            return f"Simulation({self.seed}, cut_at={self.cut_at}).check()"
        return f"python -m tests.fuzz --kind simulation --seed {self.seed} --count 1"

    def _live(self, case: GraphCase, life: SimulatedLife, random: Random) -> None:
        life.attempt(lambda: life.add(case.plans[0]))
        for _ in range(random.randint(_STEPS // 3, _STEPS)):
            self._fail(life.disk, random)
            match random.choice(["push"] * 4 + ["tick"] * 3 + ["change"] * 2 + ["die"]):
                case "push":
                    life.attempt(life.push)
                case "tick":
                    life.attempt(life.tick)
                case "change":
                    life.attempt(lambda: case._change(life))
                case "die" if self.cut_at is None and random.random() < 0.3:
                    life.attempt(life.restart)

    def _fail(self, disk: SimulatedDisk, random: Random) -> None:
        if self.cut_at is not None:
            return
        match random.choice(["cut", "full", "", "", "", "", ""]):
            case "cut":
                disk.cut_in = random.randrange(random.choice([3, 10, 40]))
            case "full":
                disk.full_for = random.randint(1, 4)


def check_seed(seed: int) -> None:
    """Live the life of a seed."""
    Simulation(seed).check()


@cache
def real_folder() -> str:
    """For the locks of simulated folders, which are real files."""
    folder = tempfile.TemporaryDirectory(prefix="tidemill-simulation-")
    _KEPT.append(folder)
    os.mkdir(f"{folder.name}/run")
    return folder.name


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
