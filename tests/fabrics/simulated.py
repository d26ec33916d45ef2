"""Fabrics of tests: tasks travel as if they ran elsewhere, and things go wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import TypeVar

from tidemill.runtime.fabric import InProcess, all_facts, arriving
from tidemill.runtime.parcels import Parcel
from tidemill.runtime.sending import Sender, Sent
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.runtime.state import forget
from tidemill.runtime.travelling import Travelling
from tidemill.store import Store

Task = TypeVar("Task", SourceTask, StageTask)


class Elsewhere(Travelling):
    """Tasks and parcels travel as bytes, as they do on Spark; the processes are this one.

    There are few partitions, and yet what tasks send to them travels in bundles.
    """

    writes_spark_formats = False
    has_local_paths = True
    check = InProcess.check
    write = InProcess.write

    def __init__(self, partitions: int, direct: int = -1, many: int = 1) -> None:
        super().__init__(partitions, many)
        self.direct = direct

    def call(self, tasks: Sequence[Sent], title: str) -> list[bytes]:
        return [task() for task in tasks]


class Rough(InProcess):
    """The same where workers forget, parcels come in any order, and tasks are done twice.

    Of a task that is done twice, the parcels may be those that it gave at first, and the state
    what it has left then, when all it was given came in another order.
    """

    is_local = False

    def __init__(self, partitions: int, random: Random) -> None:
        super().__init__(partitions, packs=True, direct=random.choice([-1, 1 << 30]))
        self._random = random
        self._sender = Sender()

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        assert store is not None
        reading = [self._sender.send(task, store) for task in sources]
        parcels = [p for sent in reading for p in self._twice(partial(self._read, sent))]
        for stage in stages:
            sent = self._sender.send(stage, store)
            coming, rest = arriving(stage, self._moved(parcels, store), all_facts)
            parcels = rest + [
                parcel
                for number in self._random.sample(range(stage.partitions), stage.partitions)
                for parcel in self._twice(partial(self._staged, sent, number, coming[number]))
            ]
        return self._moved(parcels, store)

    def _twice(self, attempt: Callable[[bool], Iterable[Parcel]]) -> list[Parcel]:
        """What one attempt gave, if there was another one before or after it."""
        given = [list(attempt(False))]
        if self._random.random() < 0.5:
            given.append(list(attempt(True)))
        return self._random.choice(given)

    def _read(self, sent: Sent, again: bool) -> Iterable[Parcel]:
        parcels: Iterable[Parcel] = sent()
        return parcels

    def _staged(self, sent: Sent, number: int, mine: list[Parcel], again: bool) -> Iterable[Parcel]:
        stage: StageTask = sent.task
        coming = list(map(_turned, mine)) if again else list(mine)
        self._random.shuffle(coming)
        if self._random.random() < 0.3:
            forget(stage.run)
        return stage(number, coming)


def travelled(task: Task, sender: Sender, store: Store) -> Task:
    """A task as it arrives at another process."""
    arrived: Task = sender.send(task, store).task
    return arrived


def _turned(parcel: Parcel) -> Parcel:
    return parcel if parcel.rows is None else replace(parcel, rows=parcel.rows.reverse())
