"""Fabrics of tests: tasks travel as if they ran elsewhere, and things go wrong there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from tidemill.runtime import blocks
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.parcels import Parcel
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.runtime.state import forget
from tidemill.store import Store

Task = TypeVar("Task", SourceTask, StageTask)


class Elsewhere(InProcess):
    """Tasks and parcels travel as bytes, as they do to other processes; the store is there too."""

    is_local = False

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions, packs=True)

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        assert store is not None
        return super().run(list(map(travelled, sources)), list(map(travelled, stages)), store)


class Rough(InProcess):
    """The same where workers forget, parcels come in any order, and tasks are done twice.

    Of a task that is done twice, some partitions have what it gave at first, and others what it
    gave then, when all it was given came in another order.
    """

    is_local = False

    def __init__(self, partitions: int, random: Random) -> None:
        super().__init__(partitions, packs=True)
        self._random = random

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        assert store is not None
        parcels = [p for task in sources for p in self._read(travelled(task), not stages)]
        for stage in stages:
            parcels = self._moved(parcels, store)
            last = stage is stages[-1]
            parcels = [
                parcel
                for number in self._random.sample(range(stage.partitions), stage.partitions)
                for parcel in self._staged(stage, number, parcels, last)
            ]
        return self._moved(parcels, store)

    def _read(self, task: SourceTask, last: bool) -> list[Parcel]:
        return self._mixed(list(task()), list(task()), last)

    def _staged(
        self, stage: StageTask, number: int, parcels: Iterable[Parcel], last: bool
    ) -> list[Parcel]:
        mine = [parcel for parcel in parcels if parcel.target == number]
        attempts = [mine, list(map(_turned, mine))]
        self._random.shuffle(attempts[0])
        given = []
        for attempt in attempts[: self._random.choice([1, 2])]:
            if self._random.random() < 0.3:
                forget(stage.run)
            given.append(list(travelled(stage)(number, attempt)))
        return self._mixed(given[0], given[-1], last)

    def _mixed(self, first: list[Parcel], second: list[Parcel], last: bool) -> list[Parcel]:
        """What there is of a task that was done twice; whoever asks for results has all of one."""
        if last:
            return self._random.choice([first, second])
        targets = {parcel.target for parcel in first}
        chosen = {target: self._random.choice([0, 1]) for target in sorted(targets)}
        pairs = [(0, parcel) for parcel in first] + [(1, parcel) for parcel in second]
        return [parcel for attempt, parcel in pairs if chosen[parcel.target] == attempt]


def travelled(task: Task) -> Task:
    """A task as it arrives at another process."""
    arrived: Task = blocks.load(bytearray(b"".join(blocks.dump(task))))
    return arrived


def _turned(parcel: Parcel) -> Parcel:
    return parcel if parcel.rows is None else replace(parcel, rows=parcel.rows.reverse())
