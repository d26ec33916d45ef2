"""The answers of all queries of an engine that keep theirs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from tidemill.engine.kept.results import KeptResults
from tidemill.engine.query import Query
from tidemill.graph.query_graph import QueryGraph
from tidemill.results import SinkRequest


class KeptStore:
    """Keeps at most so many `rows` for each query; in a `folder`, they survive the process."""

    def __init__(self, rows: int, folder: str | Path | None = None) -> None:
        self._rows = rows
        self._folder = None if folder is None else Path(folder)
        self._kept: dict[str, KeptResults] = {}

    def sink(self, name: str, query: Query) -> SinkRequest:
        """The sink of a query: what was kept under its name is there already."""
        path = None if self._folder is None else self._folder / f"{quote(name, safe='')}.rows"
        kept = KeptResults(query.schema, query.planned.domain, self._rows, path)
        self._kept[name.casefold()] = kept
        return SinkRequest(kept, form="live")

    def of(self, name: str) -> KeptResults | None:
        """The answer of a query that keeps it."""
        return self._kept.get(name.casefold())

    def begin(self, name: str) -> None:
        """Forget what an earlier run of a query has left."""
        if (kept := self.of(name)) is not None:
            kept.clear()

    def forget(self, name: str) -> None:
        """Delete the answer of a query that is no more."""
        if (kept := self._kept.pop(name.casefold(), None)) is not None:
            kept.clear()

    def complete(self, graph: QueryGraph) -> None:
        """After a tick, tell everyone how far the answers have come."""
        nodes = graph.run.nodes
        for name, query in graph.running.items():
            kept = self.of(name)
            if kept is not None and (done := nodes.get(query.root.running)) is not None:
                kept.complete(done.watermark)
