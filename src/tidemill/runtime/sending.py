"""Tasks on their way to other processes: plans stay behind where they are known.

Plans are large, and the same for many ticks. They are written to the store once, and tasks name
them; a process reads those that it has not seen yet. Tasks, and these plans, are pickles: they have
the functions of users in them, for workers that cannot know them by name, and live only as long as
the run that has made them. No run reads those of another one.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import cloudpickle

from tidemill.stages import Stage, Staged
from tidemill.store import Store

FOLDER = "plans"
"""Where they are; no run needs those of another one."""

_KEPT = 4
"""Plans that are kept: a tick may need those of the ticks before as well."""

_Name = tuple[str, str, int | None]
"""The store and the file of a plan, and the number of a stage in it, if it is one of these."""


class Sender:
    """Turns the tasks of a run into bytes."""

    def __init__(self) -> None:
        self._plans: dict[str, Staged] = {}
        self._names: dict[int, _Name] = {}

    def send(self, task: Any, store: Store) -> Sent:
        """A task as it travels."""
        file = io.BytesIO()
        _Pickler(self, store, file).dump(task)
        return Sent(file.getvalue())

    def name_of(self, part: Staged | Stage, store: Store) -> _Name | None:
        """The name of a plan, or of a stage in a plan that has a name."""
        if isinstance(part, Staged) and id(part) not in self._names:
            self._keep(part, store)
        return self._names.get(id(part))

    def _keep(self, plan: Staged, store: Store) -> None:
        file = f"{FOLDER}/{uuid4().hex}"
        store.put(file, cloudpickle.dumps(plan, protocol=5), scratch=True)
        self._plans[file] = plan  # as long as it is here, no other object has its identity
        self._names[id(plan)] = (store.uri, file, None)
        for number, stage in enumerate(plan.stages):
            self._names[id(stage)] = (store.uri, file, number)
        for old in list(self._plans)[:-_KEPT]:
            del self._plans[old]
            self._names = {part: name for part, name in self._names.items() if name[1] != old}
            store.remove(old)


@dataclass(frozen=True)
class Sent:
    """A task that travels; called where it has arrived, it calls the task."""

    body: bytes

    def __call__(self) -> Any:
        return self.task()

    @property
    def task(self) -> Any:
        return _Unpickler(io.BytesIO(self.body)).load()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, sender: Sender, store: Store, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self._sender = sender
        self._store = store

    def persistent_id(self, part: Any) -> _Name | None:
        if isinstance(part, Staged | Stage):
            return self._sender.name_of(part, self._store)
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: _Name) -> Staged | Stage:
        uri, file, number = name
        plan = _known(uri, file)
        return plan if number is None else plan.stages[number]


_PLANS: dict[tuple[str, str], Staged] = {}
"""Plans that this process has read."""


def _known(uri: str, file: str) -> Staged:
    plan = _PLANS.get((uri, file))
    if plan is None:
        plan = pickle.loads(Store(uri).get(file))
        for old in list(_PLANS)[: 1 - _KEPT]:
            del _PLANS[old]
        _PLANS[uri, file] = plan
    return plan
