"""Tasks that run elsewhere: they go there as bytes, and what they give comes back as bytes.

The driver looks at no rows, and does as much for every partition, however many there are.
"""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from tidemill.runtime.bundles import MANY, joined, packed, rows_of
from tidemill.runtime.fabric import all_facts, arriving
from tidemill.runtime.parcels import EVERY, FACTS, Packed, Packer, Parcel, unpack
from tidemill.runtime.sending import Sender, Sent
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store


@dataclass(frozen=True)
class SourceCall:
    """A task that reads; what it has read goes on into a stage at once, if there is one."""

    task: SourceTask
    store: Store
    stage: StageTask | None = None
    many: int = MANY

    def __str__(self) -> str:
        return f"tick {self.task.tick}, reading"

    def __call__(self) -> bytes:
        parcels = self.task()
        if self.stage is not None:
            parcels = _through(self.stage, self.task.number, parcels)
        return _dumped(parcels, self.store, self.task.tick, self.task.partitions, self.many)


@dataclass(frozen=True)
class StageCall:
    """A stage in one partition, and what came for it."""

    task: StageTask
    partition: int
    coming: Sequence[Packed]
    store: Store
    many: int = MANY

    def __str__(self) -> str:
        return f"tick {self.task.tick}, stage {self.task.stage.level}"

    def __call__(self) -> bytes:
        coming = chain.from_iterable(map(self._unpacked, self.coming))
        parcels = self.task(self.partition, coming)
        return _dumped(parcels, self.store, self.task.tick, self.task.partitions, self.many)

    def _unpacked(self, parcel: Packed) -> Iterator[Parcel]:
        if parcel.target == EVERY and parcel.tag >= 0:
            for rows in rows_of(parcel, self.store, self.partition):
                yield Parcel(self.partition, parcel.tag, rows)
        else:
            yield unpack(parcel, self.store)


def _through(stage: StageTask, partition: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
    """What a stage makes of parcels, and those that are not for it."""
    every = list(parcels)
    yield from (parcel for parcel in every if parcel.tag not in stage.tags)
    yield from stage(partition, [parcel for parcel in every if parcel.tag in stage.tags])


def _dumped(
    parcels: Iterable[Parcel], store: Store, tick: int, partitions: int, many: int
) -> bytes:
    return pickle.dumps(list(packed(parcels, store, tick, partitions, many)), protocol=5)


class Travelling:
    """What fabrics have in common that call tasks in other processes.

    What tasks send to more than `many` partitions are bundles.
    """

    is_local = False

    def __init__(self, partitions: int, many: int = MANY) -> None:
        self.partitions = partitions
        self._many = many
        self._sender = Sender()

    @abstractmethod
    def call(self, tasks: Sequence[Sent], title: str) -> list[bytes]:
        """What tasks give, in their order, wherever they are called."""

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        """All parcels that go to the driver."""
        assert store is not None
        first = None
        if sources[0].direct:
            first, stages = stages[0], stages[1:]
        parcels = self._called([SourceCall(t, store, first, self._many) for t in sources], store)
        for stage in stages:

            def one(same: list[Packed], tick: int = stage.tick) -> Packed:
                return _one_for_all(same, store, tick)

            coming, rest = arriving(stage, parcels, one)
            tasks = [
                StageCall(stage, number, mine, store, self._many)
                for number, mine in enumerate(coming)
            ]
            parcels = rest + self._called(tasks, store)
        return [unpack(each, store) for each in parcels]

    def _called(
        self, tasks: Sequence[SourceCall] | Sequence[StageCall], store: Store
    ) -> list[Packed]:
        sent = [self._sender.send(task, store) for task in tasks]
        found = self.call(sent, f"tidemill: {tasks[0]}")
        return [parcel for each in found for parcel in pickle.loads(each)]


def _one_for_all(parcels: list[Packed], store: Store, tick: int) -> Packed:
    """Facts, or bundles, of all tasks as one parcel for every partition."""
    if parcels[0].tag == FACTS:
        return Packer(None, tick)(all_facts([unpack(parcel, None) for parcel in parcels]))
    return joined(parcels, store, tick)
