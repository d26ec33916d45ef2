"""Which queries use which parts of a graph, kept up as queries come and go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tidemill.algebra.plan import nodes_of
from tidemill.physical.operator import Exec
from tidemill.runtime.interface import Root


class Uses(Collection[Exec]):
    """All parts that some query uses. Only queries that come, go or change cost time."""

    def __init__(self) -> None:
        self._roots: dict[str, Root] = {}
        self._queries: dict[Exec, dict[str, None]] = {}
        self._told: dict[Exec, tuple[str, ...]] = {}

    def follow(self, roots: Mapping[str, Root]) -> None:
        """Take these queries, by name, to be all that run."""
        for name in [name for name, root in self._roots.items() if roots.get(name) is not root]:
            self._remove(name)
        for name, root in roots.items():
            if name not in self._roots:
                self._roots[name] = root
                for part in nodes_of(root.running):
                    self._queries.setdefault(part, {})[name] = None
                    self._told.pop(part, None)

    def _remove(self, name: str) -> None:
        for part in nodes_of(self._roots.pop(name).running):
            users = self._queries[part]
            self._told.pop(part, None)
            del users[name]
            if not users:
                del self._queries[part]

    def queries(self, part: Exec) -> tuple[str, ...]:
        """The queries that use a part."""
        told = self._told.get(part)
        if told is None:  # slow for a part that thousands use
            told = self._told[part] = tuple(self._queries.get(part, ()))
        return told

    def __contains__(self, part: object) -> bool:
        return part in self._queries

    def __iter__(self) -> Iterator[Exec]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)
