"""Relations that clients change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tidemill.server.incoming import from_json
from tidemill.server.problems import NotNow
from tidemill.server.service import Service


class Relations:
    """Inserts and deletes rows; with a folder, they are in it when that is answered."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def insert(self, name: str, rows: Sequence[dict[str, Any]], at: int | None) -> int:
        """Insert rows from an instant on; how many."""
        info = self._service.source(name)
        table = from_json(rows, info)
        with self._service.lock, _telling():
            count = self._service.engine.insert(info.name, table, at) if rows else 0
        self._service.changed()
        return count

    def delete(self, name: str, where: str | None, at: int | None) -> int:
        """Delete rows from an instant on; how many."""
        info = self._service.source(name)
        with self._service.lock, _telling():
            count = self._service.engine.delete(info.name, where, at)
        self._service.changed()
        return count


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        help = "is there room on the disk? Nothing has changed"
        raise NotNow(f"the change cannot be saved: {error.strerror}", help=help) from error
