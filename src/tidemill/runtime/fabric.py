"""Fabrics call the tasks of a tick. Here, this process does; Spark has a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from tidemill.connectors.sinks import SparkWrite
from tidemill.errors import UnsupportedError
from tidemill.runtime.clock import Facts
from tidemill.runtime.parcels import EVERY, FACTS, Packed, Packer, Parcel, unpack
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store


class Fabric(Protocol):
    """Calls the tasks of a tick: those that read, then stage by stage those of all partitions.

    If it `is_local`, tasks run in this process, one after the other, with the objects that they
    are given. A tick that takes no more than so much `effort_of` reading is read by every partition
    itself: `direct` reading is less work than sending rows to each other. `writes_spark_formats`
    tells whether it knows other formats than ours, and with `has_local_paths` a path without a
    scheme is one of this machine.
    """

    partitions: int
    is_local: bool
    direct: int
    writes_spark_formats: bool
    has_local_paths: bool

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        """All parcels that go to the driver."""

    def check(self, request: SparkWrite) -> None:
        """Refuse what could not be written, before a query runs."""

    def write(self, request: SparkWrite, names: Sequence[str], tick: int, store: Store) -> None:
        """Write the rows of a tick, which are in files of the store, in a format of Spark."""


Sent = TypeVar("Sent", Parcel, Packed)


def arriving(
    stage: StageTask, parcels: Sequence[Sent], joined: Callable[[list[Sent]], Sent]
) -> tuple[list[list[Sent]], list[Sent]]:
    """The parcels for every partition of a stage, and those for others.

    What all tasks have sent to every partition is `joined` first: partitions times partitions of
    them would be too many for the driver.
    """
    # Those of the state: a checkpoint may have been begun with another number.
    coming: list[list[Sent]] = [[] for _ in range(stage.partitions)]
    rest = []
    for_all: dict[int, list[Sent]] = {}
    for parcel in parcels:
        if parcel.tag not in stage.tags:
            rest.append(parcel)
        elif parcel.target == EVERY:
            for_all.setdefault(parcel.tag, []).append(parcel)
        else:
            coming[parcel.target].append(parcel)
    same = [joined(each) for each in for_all.values()]
    for each in coming:
        each += same
    return coming, rest


def all_facts(parcels: Sequence[Parcel]) -> Parcel:
    """What tasks have told every partition, as if one of them had."""
    return Parcel(EVERY, FACTS, told=Facts.together([parcel.told for parcel in parcels]))


class InProcess:
    """Calls the tasks in this process. If it `packs`, parcels travel as they do elsewhere."""

    is_local = True
    writes_spark_formats = False
    has_local_paths = True

    def __init__(self, partitions: int = 1, packs: bool = False, direct: int = -1) -> None:
        self.partitions = partitions
        self.direct = direct
        self._packs = packs

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        parcels = self._moved([parcel for task in sources for parcel in task()], store)
        for stage in stages:
            coming, rest = arriving(stage, parcels, all_facts)
            done = [p for number, each in enumerate(coming) for p in stage(number, each)]
            parcels = rest + self._moved(done, store)
        return parcels

    def check(self, request: SparkWrite) -> None:
        raise UnsupportedError(f"in this process, results cannot be written as {request.format}")

    def write(self, request: SparkWrite, names: Sequence[str], tick: int, store: Store) -> None:
        self.check(request)

    def _moved(self, parcels: list[Parcel], store: Store | None) -> list[Parcel]:
        if not self._packs:
            return parcels
        packer = Packer(store, 0)
        return [unpack(packer(parcel), store) for parcel in parcels]
