"""Tasks that come when their tick is over change nothing, whoever has gone on meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.checking.plans import reference_of
from tests.fabrics.simulated import travelled
from tests.runtime.cases import Bounded, make_case
from tidemill.errors import ExecutionError
from tidemill.physical.lowering import lower
from tidemill.runtime.fabric import InProcess, all_facts, arriving
from tidemill.runtime.parcels import Parcel
from tidemill.runtime.sending import Sender
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store
from tidemill.testing import check_result, elements


class Remembering(InProcess):
    """Keeps the tasks of all stages, so that they can come once more."""

    is_local = False

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions, packs=True)
        self._sender = Sender()
        self.tasks: list[Callable[[], Iterable[Parcel]]] = []

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        assert store is not None
        parcels = self._moved([parcel for task in sources for parcel in task()], store)
        for stage in stages:
            there = travelled(stage, self._sender, store)
            coming, rest = arriving(there, parcels, all_facts)
            mine = [partial(there, number, each) for number, each in enumerate(coming)]
            self.tasks += mine
            parcels = rest + self._moved([parcel for task in mine for parcel in task()], store)
        return parcels


@pytest.mark.parametrize("seed", range(12))
def test_late_tasks_change_nothing(seed: int, tmp_path: Path) -> None:
    case, plan, functions = make_case("plans", seed)
    store, fabric = Store(str(tmp_path / "store")), Remembering(2)
    bounded = Bounded(lower(plan, dict(functions)), case.inputs.sources(store), fabric, store)
    try:
        for _ in bounded.ticks():
            before = _files(tmp_path)
            for task in fabric.tasks:
                with pytest.raises(ExecutionError, match="comes too late"):
                    list(task())
            assert _files(tmp_path) == before
        found = [rows.to_arrow() for rows in bounded.rows.ticks.values()]
        rows = [each for table in found for each in elements(table)]
        check_result(rows, reference_of(plan, case.inputs, functions))
    finally:
        bounded.run.stop()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
