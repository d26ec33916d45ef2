"""Which queries use which parts of a graph, kept up as queries come and go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tidemill.physical.operator import Exec
from tidemill.runtime.interface import Job
from tidemill.runtime.operators import nodes_of


class Uses(Collection[Exec]):
    """All parts that some query uses. Only queries that come, go or change cost time."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._queries: dict[Exec, dict[str, None]] = {}
        self._told: dict[Exec, tuple[str, ...]] = {}

    def follow(self, jobs: Mapping[str, Job]) -> None:
        """Take these queries, by name, to be all that run."""
        for name in [name for name, job in self._jobs.items() if jobs.get(name) is not job]:
            self._remove(name)
        for name, job in jobs.items():
            if name not in self._jobs:
                self._jobs[name] = job
                for part in nodes_of(job.running):
                    self._queries.setdefault(part, {})[name] = None
                    self._told.pop(part, None)

    def _remove(self, name: str) -> None:
        for part in nodes_of(self._jobs.pop(name).running):
            users = self._queries[part]
            self._told.pop(part, None)
            del users[name]
            if not users:
                del self._queries[part]

    def queries(self, part: Exec) -> tuple[str, ...]:
        """The queries that use a part."""
        told = self._told.get(part)
        if told is None:  # of a part that thousands use, that takes its time
            told = self._told[part] = tuple(self._queries.get(part, ()))
        return told

    def __contains__(self, part: object) -> bool:
        return part in self._queries

    def __iter__(self) -> Iterator[Exec]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)
