"""Rows that clients push into streams."""

from __future__ import annotations

import pyarrow as pa

from tidemill.connectors.feeds import Receipt
from tidemill.engine.tables import pushed_table
from tidemill.server.incoming import rows_of
from tidemill.server.problems import Conflict, TooMany
from tidemill.server.service import Service


class Pushing:
    """Checks rows and hands them over; a tick must not fail for them."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def push(self, name: str, body: bytes, media: str, wait: bool = False) -> Receipt:
        """Push the rows of a request into a stream."""
        info = self._service.source(name)
        table = pushed_table(info, rows_of(body, media, info))
        self._refuse_flood(info.name, table)
        if wait:
            self._refuse_unread(info.name)
        self._service.counts["pushes"] += 1
        self._service.counts["pushed_rows"] += table.num_rows
        return self._service.engine.hand_in(info.name, table)

    def _refuse_unread(self, name: str) -> None:
        with self._service.lock:
            is_read = name in self._service.graph.sources
        if not is_read:
            help = "start a query that reads it, or push without wait"
            raise Conflict(f"no query reads `{name}`: its rows wait in memory", help=help)

    def _refuse_flood(self, name: str, table: pa.Table) -> None:
        """Rows of a stream that no query ever read wait in memory: not without a limit."""
        most = self._service.settings.limits.waiting_rows
        if self._service.engine.waiting(name) + table.num_rows > most:
            raise TooMany(
                f"more than {most} rows of `{name}` wait to be read",
                help="start a query that reads it, or push more slowly",
            )

    def heartbeat(self, name: str, at: int) -> None:
        """Say that a stream has come to an instant."""
        info = self._service.source(name)
        with self._service.lock:
            self._service.graph.heartbeat(info.name, at)
