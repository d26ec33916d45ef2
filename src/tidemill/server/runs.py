"""Queries over what is bounded, run at once; not too many, and not for too long."""

from __future__ import annotations

from threading import BoundedSemaphore

import polars as pl
import pyarrow as pa

from tidemill.deadline import look, within
from tidemill.engine import Query
from tidemill.errors import TidemillError
from tidemill.server.planning import planned, query_in
from tidemill.server.problems import NotNow, Refused, TooMany
from tidemill.server.service import Service
from tidemill.show.tables import Answer
from tidemill.sql.building import Definition
from tidemill.timeline import VALID_FROM, VALID_TO
from tidemill.wire.statements import RunRequest


class Runs:
    """Runs queries to their end, one tick after the other, as long as there is time."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._places = BoundedSemaphore(service.settings.limits.runs)

    def run(self, wanted: RunRequest) -> Answer:
        """The rows of a query over what is bounded."""
        definition = query_in(self._service, wanted.sql, wanted.parameters)
        query = planned(self._service, definition).query
        asks = self._service.engine.catalog.reads_queries(query.depends_on)
        if not asks:
            self._refuse_pushed(query)
        seconds = self._service.settings.limits.run_seconds
        # An answer at one instant mostly takes no time: it may wait for its turn.
        if not self._places.acquire(timeout=seconds if asks else 0):
            most = self._service.settings.limits.runs
            raise TooMany(f"{most} queries are already running", help="try again soon")
        help = "make it smaller, or start it: CREATE QUERY, START QUERY"
        try:
            with within(seconds, "the query", help):
                return self._asked(definition, query, wanted) if asks else self._run(query, wanted)
        finally:
            self._places.release()

    def _run(self, query: Query, wanted: RunRequest) -> Answer:
        """The rows of a query, with their intervals."""
        ordered = query.listed(self._in_time(query))
        most = min(wanted.limit, self._service.settings.limits.result_rows)
        return Answer(
            ordered.slice(0, most), query.schema, query.planned.domain, ordered.num_rows > most
        )

    def _asked(self, definition: Definition, query: Query, wanted: RunRequest) -> Answer:
        """The rows of a query over the answers of others, at one instant.

        Others use the engine while it is computed.
        """
        with self._service.lock:
            beside, at = self._service.engine.beside(definition, wanted.at)
        rows = beside.answer(definition)
        most = min(wanted.limit, self._service.settings.limits.result_rows)
        for name, instant in ((VALID_FROM, at), (VALID_TO, at + 1)):
            rows = rows.append_column(name, pa.array([instant] * rows.num_rows, pa.int64()))
        shown, more = rows.slice(0, most), {"at": at}
        return Answer(shown, query.schema, query.planned.domain, rows.num_rows > most, None, more)

    def _in_time(self, query: Query) -> list[pl.DataFrame]:
        try:
            return self._ticks(query)
        except TidemillError:
            look()  # an operator that was interrupted tells of it in its own words
            raise

    def _ticks(self, query: Query) -> list[pl.DataFrame]:
        limits = self._service.settings.limits
        found, rows = [], 0
        for batch in query.batches():
            found.append(batch)
            rows += batch.height
            look()
            if rows > 10 * limits.result_rows:
                help = "narrow it down, or start it: CREATE QUERY, START QUERY"
                raise NotNow(f"the answer has more than {rows} rows", help=help)
        return found

    def _refuse_pushed(self, query: Query) -> None:
        """Rows that are pushed come for ever: such a query never ends."""
        for name in query.sources:
            if self._service.is_pushed(name):
                raise Refused(
                    f"`{name}` is a stream whose rows are pushed: the query would never end",
                    help="give it a name and start it: CREATE QUERY q AS ...; START QUERY q",
                )
