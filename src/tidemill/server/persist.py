"""The statements that made a catalog, on disk, so that a restart has them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO
from uuid import uuid4

from tidemill.errors import TidemillError
from tidemill.server.show.statements import select_of
from tidemill.sql import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    DeleteFrom,
    DropObject,
    InsertValues,
    StartQuery,
    Statement,
    StopQuery,
    parse,
)

_END = "\n; -- kept\n"
"""Behind every statement that was written whole."""

_LASTING = (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    DeleteFrom,
    DropObject,
    InsertValues,
    StartQuery,
    StopQuery,
)


def lasts(statement: Statement) -> bool:
    """Whether a restart has to know of a statement; a better plan is in the checkpoint."""
    optimizes = isinstance(statement, AlterQuery) and statement.query is None
    return isinstance(statement, _LASTING) and not optimizes


class CatalogLog:
    """A file of statements; each is on disk when `add` returns, whole or not at all."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder)
        self._path = folder / "catalog.sql"
        self.is_new = not self._path.exists()

    def read(self) -> list[Statement]:
        """All statements; a last one that a crash has cut off was never answered for."""
        if self.is_new:
            return []
        text = self._path.read_text("utf-8")
        whole = text[: text.rindex(_END) + len(_END)] if _END in text else ""
        return parse(whole)

    def add(self, sql: str) -> None:
        """Append a statement."""
        with open(self._path, "a", encoding="utf-8", opener=_private) as file:
            file.write(sql + _END)
            file.flush()
            os.fsync(file.fileno())

    def replace(self, statements: Iterable[str]) -> None:
        """Write what is left of all statements in the place of them."""
        temporary = self._path.with_suffix(f".{uuid4().hex}.temporary")
        with open(temporary, "w", encoding="utf-8", opener=_private) as file:
            file.writelines(sql + _END for sql in statements)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._path)
        _sync(self._path.parent)
        self.is_new = False

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()


def _private(path: str, flags: int) -> int:
    """Statements may hold passwords."""
    return os.open(path, flags, 0o600)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked(folder: Path) -> IO[str]:
    lock = open(folder / "lock", "w")  # noqa: SIM115 (kept open while it is held)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        help = "stop that one first, or choose another folder with --dir"
        raise TidemillError(f"the folder {folder} is in use by another server", help=help) from None
    return lock


class Lasting:
    """What statements leave behind: things that there are, and queries that run.

    >>> left = Lasting(parse("CREATE QUERY q AS SELECT 1 AS n; START QUERY q; STOP QUERY q"))
    >>> [each.sql for each in left.made], left.running
    (['CREATE QUERY q AS SELECT 1 AS n'], {})
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.made: list[Statement] = []
        self.running: dict[str, StartQuery] = {}
        for statement in statements:
            self._take(statement)

    def _take(self, statement: Statement) -> None:
        match statement:
            case StartQuery():
                self.running[statement.name.casefold()] = statement
            case StopQuery():
                self.running.pop(statement.name.casefold(), None)
            case DropObject():
                # Nothing depended on it any more, so it is as if it had never been.
                self.running.pop(statement.name.casefold(), None)
                of_query = statement.kind == "QUERY"
                self.made = [
                    each
                    for each in self.made
                    if not _is_about(each, statement.name) or _defines(each) is not of_query
                ]
            case _:
                self.made.append(statement)

    def texts(self) -> list[str]:
        """Statements that leave the same behind, with only the last definition of each query."""
        definitions = {
            each.name.casefold(): select_of(each)
            for each in self.made
            if isinstance(each, AlterQuery)
        }
        made = [
            _redefined(each, definitions) for each in self.made if not isinstance(each, AlterQuery)
        ]
        return [*made, *(each.sql for each in self.running.values())]

    def definitions(self, name: str) -> list[str]:
        """The queries that a name has stood for, the newest first."""
        queries = [each for each in self.made if _is_about(each, name) and _defines(each)]
        return [select_of(each) for each in reversed(queries)]


def _is_about(statement: Statement, name: str) -> bool:
    return str(getattr(statement, "name", "")).casefold() == name.casefold()


def _defines(statement: Statement) -> bool:
    """Whether a statement is about a query, and not about a stream or relation."""
    return isinstance(statement, CreateQuery | AlterQuery)


def _redefined(statement: Statement, definitions: dict[str, str]) -> str:
    if isinstance(statement, CreateQuery) and statement.name.casefold() in definitions:
        head = statement.sql.removesuffix(select_of(statement))
        return head + definitions[statement.name.casefold()]
    return statement.sql
