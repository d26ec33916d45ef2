"""A fabric on which tasks are lost, run twice, in any order, after all others, and too late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random

from tests.fabrics.simulated import Rough
from tests.random.graphs import in_process
from tests.simulation.disk import SimulatedDisk
from tidemill.errors import ExecutionError
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.parcels import Parcel
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store
from tidemill.store.disk import local_disk

Attempt = Callable[[bool], Iterable[Parcel]]


class Unsteady(Rough):
    """Besides, a job may fail whatever its tasks have done, and some run on until its end.

    Others come too late: their tick was committed, or made again, or the run has gone on elsewhere.
    These are `zombies`, which outlive the fabric.
    """

    def __init__(self, partitions: int, random: Random, zombies: list[Attempt]) -> None:
        super().__init__(partitions, random)
        self._late: list[Attempt] = []
        self._zombies = zombies

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        self._haunt()
        try:
            return super().run(sources, stages, store)
        finally:
            late, self._late = self._late, []
            for attempt in self._random.sample(late, len(late)):
                list(attempt(True))
            self._haunt()

    def _twice(self, attempt: Attempt) -> list[Parcel]:
        chance = self._random.random()
        if chance < 0.02:
            raise LostError("an executor is lost, and with it the job")
        if chance < 0.1:
            self._late.append(attempt)
        elif chance < 0.3:
            self._zombies.append(attempt)
        found = super()._twice(attempt)
        if chance > 0.98:
            raise LostError("an executor is lost when its task was done, and with it the job")
        return found

    def _haunt(self) -> None:
        """Let some of the tasks run that should be over; nobody hears of what they give."""
        with self._aside():
            chosen = [each for each in self._zombies if self._random.random() < 0.3]
            for attempt in chosen:
                self._zombies.remove(attempt)
                with suppress(Exception):
                    list(attempt(self._random.random() < 0.5))

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Draw from another source of randomness, so that all else stays as it is."""
        before, disk = self._random, local_disk()
        assert isinstance(disk, SimulatedDisk)
        self._random = Random(hash(before.getstate()))
        try:
            with disk.aside(self._random):
                yield
        finally:
            self._random = before


class LostError(ExecutionError):
    """A job of the fabric has failed; the tick has to be made again."""


def any_fabric(partitions: int, random: Random, zombies: list[Attempt]) -> Fabric:
    """One of the fabrics of this process, good or bad."""
    if random.random() < 0.3:
        return Unsteady(partitions, random, zombies)
    return in_process(partitions, random)
