"""Queries over what is bounded, run at once; not too many, and not for too long."""

from __future__ import annotations

from threading import BoundedSemaphore

import pyarrow as pa

from tidemill.deadline import look, within
from tidemill.engine import Query
from tidemill.errors import TidemillError
from tidemill.server.planning import planned, query_in
from tidemill.server.problems import NotNow, Refused, TooMany
from tidemill.server.service import Service
from tidemill.show.tables import Answer
from tidemill.timeline import VALID_FROM, VALID_TO


class Runs:
    """Runs queries to their end, one tick after the other, as long as there is time."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._places = BoundedSemaphore(service.settings.limits.runs)

    def run(self, sql: str, limit: int) -> Answer:
        """The rows of a query over what is bounded."""
        found = planned(self._service, query_in(self._service, sql))
        query = found.query
        self._refuse_pushed(query)
        if not self._places.acquire(blocking=False):
            most = self._service.settings.limits.runs
            raise TooMany(f"{most} queries are already running", help="try again soon")
        seconds = self._service.settings.limits.run_seconds
        help = "make it smaller, or start it: CREATE QUERY, START QUERY"
        try:
            with within(seconds, "the query", help):
                rows = pa.concat_tables(self._in_time(query))
        finally:
            self._places.release()
        ordered = rows.sort_by([(VALID_FROM, "ascending"), (VALID_TO, "ascending")])
        most = min(limit, self._service.settings.limits.result_rows)
        return Answer(
            ordered.slice(0, most), query.schema, query.planned.domain, ordered.num_rows > most
        )

    def _in_time(self, query: Query) -> list[pa.Table]:
        try:
            return self._ticks(query)
        except TidemillError:
            look()  # an operator that was interrupted tells of it in its own words
            raise

    def _ticks(self, query: Query) -> list[pa.Table]:
        limits = self._service.settings.limits
        found, rows = [], 0
        for tick in query.ticks():
            found.append(tick)
            rows += tick.num_rows
            look()
            if rows > 10 * limits.result_rows:
                help = "narrow it down, or start it: CREATE QUERY, START QUERY"
                raise NotNow(f"the answer has more than {rows} rows", help=help)
        return found or [_empty(query)]

    def _refuse_pushed(self, query: Query) -> None:
        """Rows that are pushed come for ever: such a query never ends."""
        for name in query.sources:
            if self._service.is_pushed(name):
                raise Refused(
                    f"`{name}` is a stream whose rows are pushed: the query would never end",
                    help="give it a name and start it: CREATE QUERY q AS ...; START QUERY q",
                )


def _empty(query: Query) -> pa.Table:
    times = {VALID_FROM: pa.int64(), VALID_TO: pa.int64()}
    return pa.schema([*query.schema.to_arrow(), *times.items()]).empty_table()
