"""The results of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Query, Response

from tidemill.engine.kept import KeptResults
from tidemill.server import results as read
from tidemill.server.routes.common import (
    FOREVER,
    End,
    Form,
    Limit,
    Made,
    QueryName,
    Routes,
    Serving,
    Start,
    formed,
    rows_response,
)
from tidemill.show.tables import Answer
from tidemill.wire.tables import ChangesTable, SnapshotTable, Table

routes = Routes("results")

At = Annotated[int | None, Query(ge=0, le=2**63 - 2, description="An instant")]
Cursor = Annotated[int, Query(ge=0, le=2**63 - 1, description="The last cursor")]


class KeptReading:
    """The results of a query, of which at most so many rows are read, in some form."""

    def __init__(
        self, service: Serving, made: Made, name: QueryName, form: Form, limit: Limit = 1000
    ) -> None:
        self._service, self._made = service, made
        self._name, self._form, self._limit = name, form, limit

    async def read(self, look: Callable[[KeptResults, int], Answer], *wanted: object) -> Response:
        """What a function finds; it is called once for all who want the same."""
        limit = min(self._limit, self._service.settings.limits.result_rows)

        def make() -> bytes:
            with self._service.lock:
                answer = look(self._service.kept(self._name), limit)
            return formed(answer, self._form)

        key = (*wanted, self._limit, self._name, self._form)
        return rows_response(await self._made.get(key, make), self._form)


Reading = Annotated[KeptReading, Depends(KeptReading)]


@routes.described(
    "GET",
    "/queries/{name}/snapshot",
    "What holds at an instant",
    404,
    409,
    shape=SnapshotTable,
    rows=True,
)
async def snapshot(kept: Reading, at: At = None) -> Response:
    """The rows that hold at an instant; without one, at the newest that is complete."""
    return await kept.read(lambda found, limit: read.snapshot(found, at, limit), "snapshot", at)


@routes.described(
    "GET",
    "/queries/{name}/results",
    "What holds in a range of time",
    404,
    409,
    shape=Table,
    rows=True,
)
async def results(kept: Reading, start: Start = 0, to: End = FOREVER) -> Response:
    """The rows that hold at some time in [from, to), with their intervals."""
    return await kept.read(
        lambda found, limit: read.results(found, start, to, limit), "results", start, to
    )


@routes.described(
    "GET", "/queries/{name}/changes", "What has changed", 404, 409, shape=ChangesTable, rows=True
)
async def changes(kept: Reading, since: Cursor = 0) -> Response:
    """Rows that came (+) and went (-); `cursor` is where to go on reading."""
    return await kept.read(lambda found, limit: read.changes(found, since, limit), "changes", since)
