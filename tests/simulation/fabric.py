"""A fabric on which tasks are lost, run twice, in any order, and after all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from tests.fabrics.simulated import Rough
from tests.random.graphs import in_process
from tidemill.errors import ExecutionError
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.parcels import Parcel
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store

Attempt = Callable[[bool], Iterable[Parcel]]


class Unsteady(Rough):
    """Besides, a job may fail whatever its tasks have done, and some run on until its end."""

    def __init__(self, partitions: int, random: Random) -> None:
        super().__init__(partitions, random)
        self._late: list[Attempt] = []

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        try:
            return super().run(sources, stages, store)
        finally:
            late, self._late = self._late, []
            for attempt in self._random.sample(late, len(late)):
                list(attempt(True))

    def _twice(self, attempt: Attempt) -> list[Parcel]:
        chance = self._random.random()
        if chance < 0.02:
            raise LostError("an executor is lost, and with it the job")
        if chance < 0.1:
            self._late.append(attempt)
        found = super()._twice(attempt)
        if chance > 0.98:
            raise LostError("an executor is lost when its task was done, and with it the job")
        return found


class LostError(ExecutionError):
    """A job of the fabric has failed; the tick has to be made again."""


def any_fabric(partitions: int, random: Random) -> Fabric:
    """One of the fabrics of this process, good or bad."""
    if random.random() < 0.3:
        return Unsteady(partitions, random)
    return in_process(partitions, random)
