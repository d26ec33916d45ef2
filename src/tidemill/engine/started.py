"""Queries that were started, as their users see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemill.algebra.plan import Plan, lines_of
from tidemill.engine.query import Query
from tidemill.errors import ExecutionError, UnsupportedError
from tidemill.explain import Explanation, Level
from tidemill.graph.migration import Migration
from tidemill.graph.quality import SizeSetting
from tidemill.graph.query_graph import GraphQuery, QueryState
from tidemill.physical.operator import Exec
from tidemill.runtime.progress import Progress
from tidemill.timeline import BEGIN

if TYPE_CHECKING:
    from tidemill.engine.running import RunningGraph


class StartedQuery:
    """A query that runs, perhaps with others; its methods are named as those of PySpark's
    StreamingQuery."""

    def __init__(self, host: RunningGraph, query: GraphQuery, definition: Query) -> None:
        self._host = host
        self._query = query
        self._definition = definition
        self.is_alone = False
        """Whether the graph is its own, and ends with it."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The streams and relations that it reads."""
        return tuple(sorted(self._definition.depends_on))

    @property
    def name(self) -> str:
        return self._query.name

    @property
    def state(self) -> str:
        """`running`, `stopped`, or `failed`."""
        return self._query.state.value

    @property
    def complete_from(self) -> int:
        """The instant since which its answers take account of all rows that ever came."""
        return self._query.complete_from

    @property
    def definition(self) -> Query:
        """What it asks for."""
        return self._definition

    def migrate(self, to: Query | str | Plan) -> Migration:
        """Go on with another plan or definition while it runs, without a gap.

        `to` is a query, its text (perhaps with other hints), or a logical plan, with the same
        columns. Answers before an instant, the `split` of what is returned, are those of the old
        plan, and from then on those of the new one, which knows by then all that counts.
        """
        return self._host.migrate(self.name, to)

    def adapt(self, sizes: Mapping[str, int], at: int = BEGIN) -> dict[str, tuple[int, int]]:
        """Set sizes of windows and granules for rows that come; see `RunningGraph.adapt`."""
        return self._host.adapt(sizes, at)

    def optimize(self) -> Migration | None:
        """Plan the query with what is known now, and go on with the new plan if it is better."""
        if self._definition.is_fixed:
            raise UnsupportedError(
                f"the operators of `{self.name}` were chosen by hand and are not optimized",
                help=f"give it a definition that can be planned: ALTER QUERY {self.name} AS ...",
            )
        return self._host.reoptimizer.optimize(self.name)

    @property
    def migration(self) -> Migration | None:
        """The last change of its plan, while it goes on and after."""
        return self._host.migrations.of.get(self.name)

    def redefine(self, definition: Query) -> None:
        """Take note that it asks for something else."""
        self._definition = definition
        definition.runs_as(self)

    def explain(self) -> str:
        """The plan that runs; while that is changing, both, and what remains."""
        migration = self.migration
        if migration is not None and migration.is_running:
            return migration.explanation(self._host.operators).text
        return Explanation(Level.PHYSICAL, lines_of(self.plan)).text

    @property
    def plan(self) -> Exec:
        """The operators that run."""
        return self._query.root.running

    @property
    def is_active(self) -> bool:
        """Whether it gives answers."""
        running = self._query.state is QueryState.RUNNING and self._host.is_active
        ticker = self._host.ticker
        return running and (ticker is None or ticker.is_alive or not self.is_alone)

    @property
    def progress(self) -> Progress:
        """What was done since it was started, at which sizes, and what changes."""
        left = self._query.left
        if left is not None:
            return left[0]
        migration = self.migration
        going_on = migration is not None and migration.is_running
        try:
            now = self._host.progress_of(self.name)
        except ExecutionError:
            left = self._query.left
            if left is None:
                raise
            return left[0]  # it was stopped meanwhile
        return replace(
            now,
            sizes=self._host.adaptation.histories(self.name),
            migration=migration.remaining(self._host.operators) if migration and going_on else None,
        )

    def settings(self, start: int, end: int) -> dict[str, list[SizeSetting]]:
        """The sizes of windows and granules that answers were computed with that hold in
        [start, end), where these can be changed."""
        return self._host.adaptation.settings(self.name, start, end)

    def progress_of(self, query: int) -> Progress:
        """The same: the query stands for itself."""
        return self.progress

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant, for all queries of the graph."""
        self._host.heartbeat(source, at)

    def results(self, query: int = 0) -> pa.Table:
        """What its sink `memory` holds now, or held when it was stopped."""
        if self._query.left is not None and self._query.left[1] is not None:
            return self._query.left[1]
        return self._host.results(self.name)

    def exception(self) -> Exception | None:
        """What stopped the query, if it failed."""
        return self._query.error or self._host.error

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""
        self._host.process_all_available()
        if self._query.error is not None:
            raise self._query.error

    def _repr_html_(self) -> str:
        from tidemill.notebook.runs import run_html

        return run_html(self, self._definition.planned.domain, self._definition.domain_of)

    def stop(self) -> None:
        """Let the query go; others go on."""
        if self.is_alone:
            self._host.stop()
        elif self.is_active:
            self._host.remove(self.name)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the input ends, or the query is stopped or fails."""
        over = self._host.waited(lambda: not (self.is_active or self.is_alone), timeout)
        if (error := self.exception()) is not None:
            raise error
        return over


class StartedQueries:
    """Queries that run together, in a graph of their own; by number, in their order."""

    def __init__(self, graph: RunningGraph, queries: Sequence[StartedQuery]) -> None:
        self._graph = graph
        self._queries = queries

    @property
    def queries(self) -> tuple[StartedQuery, ...]:
        """Each of them, to be looked at, changed or stopped."""
        return tuple(self._queries)

    @property
    def is_active(self) -> bool:
        """Whether any of them gives answers."""
        return any(query.is_active for query in self._queries)

    @property
    def progress(self) -> Progress:
        """What was done since the start, by all of them."""
        every = [query.progress for query in self._queries]
        sources = {name: read for each in every for name, read in each.sources.items()}
        operators = {id(o): o for each in every for o in each.operators}
        rows_out = sum(each.rows_out for each in every)
        return replace(
            every[0], rows_out=rows_out, sources=sources, operators=tuple(operators.values())
        )

    def progress_of(self, query: int) -> Progress:
        """What was done since the start, with the results of one of them."""
        return self._queries[query].progress

    def results(self, query: int = 0) -> pa.Table:
        """What the sink `memory` of a query holds now."""
        return self._queries[query].results()

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant."""
        self._graph.heartbeat(source, at)

    def exception(self) -> Exception | None:
        """What stopped one of them, if it failed."""
        errors = (query.exception() for query in self._queries)
        return next((error for error in errors if error is not None), None)

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""
        self._graph.process_all_available()
        if (error := self.exception()) is not None:
            raise error

    def _repr_html_(self) -> str:
        return self._graph._repr_html_()

    def stop(self) -> None:
        """Stop all of them."""
        self._graph.stop()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the input ends, or all are stopped, or one fails."""
        ended = self._graph.await_termination(timeout)
        if (error := self.exception()) is not None:
            raise error
        return ended
