"""The statements that made a catalog, on disk, so that a restart has them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tidemill.errors import DamageError
from tidemill.sql import (
    AlterQuery,
    CreateQuery,
    Creation,
    DropObject,
    QueryStatement,
    StartQuery,
    Statement,
    StopQuery,
    parse,
    parse_one,
)
from tidemill.sql.building import query_of
from tidemill.store import Durability, Store

_END = "\n; -- kept\n"
"""Behind every statement."""

_FILE = "catalog.sql"
_UNFINISHED = b"-- a server has begun here, and was not ready\n"
_FOLDERS = ("graph", "results", "relations")
"""The other files in the folder of a server."""

_LASTING = Creation | AlterQuery | DropObject | StartQuery | StopQuery


def lasts(statement: Statement) -> bool:
    """Whether a restart has to know of a statement.

    A better plan is in the checkpoint, and rows of relations are in files of their own.
    """
    optimizes = isinstance(statement, AlterQuery) and statement.query is None
    return isinstance(statement, _LASTING) and not optimizes


class CatalogLog:
    """All statements in one file, which is written anew with each of them: whole or not at all.

    A server that is started for the first time takes note that it has begun: if it does not come
    to its end, nobody has an answer from it, and the next one begins again.
    """

    def __init__(self, folder: Path, durability: Durability = "process") -> None:
        self.store = Store(str(folder), durability)
        self.store.lock("server")
        try:
            self._statements = self._read()
        except BaseException:
            self.store.close()
            raise

    @property
    def is_new(self) -> bool:
        """Whether no server has begun here, or none has come to the end of its beginning."""
        return self._statements is None

    def begin(self) -> None:
        """Take note that a server begins here; what one has left that did not get far is gone."""
        self.store.put(_FILE, _UNFINISHED)
        for folder in _FOLDERS:
            self.store.remove_folder(folder)

    def read(self) -> list[Statement]:
        """All statements."""
        return parse("".join(sql + _END for sql in self._statements or ()))

    def add(self, sql: str) -> None:
        """Append a statement; a crash leaves it when this returns."""
        self.replace([*(self._statements or ()), sql])

    def take_back(self) -> None:
        """As if the last statement had not been added."""
        self.replace((self._statements or ())[:-1])

    def replace(self, statements: Iterable[str], keep: bool = False) -> None:
        """Write what is left of all statements in the place of them; repairs may need a copy."""
        known = list(statements)
        text = "".join(sql + _END for sql in known).encode()
        self.store.put(_FILE, text)
        if keep:
            self.store.put(f"{_FILE}.before", text)
        self._statements = known

    def close(self) -> None:
        """Let others use the folder."""
        self.store.close()

    def _read(self) -> list[str] | None:
        """The statements, or None if there is nothing to go on with."""
        if not self.store.exists(_FILE):
            if left := [folder for folder in _FOLDERS if self.store.names(folder)]:
                what = f"it is missing, and there is {' and '.join(left)}"
                raise DamageError(self.store.path(_FILE), what)
            return None
        content = self.store.get(_FILE)
        return None if content == _UNFINISHED else content.decode().split(_END)[:-1]


class Lasting:
    """What statements leave: things that there are, and queries that run.

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
                self.running.pop(statement.name.casefold(), None)
                self._forget(statement, statement.kind == "QUERY")
            case _:
                if statement.or_replace:
                    self._forget(statement, isinstance(statement, CreateQuery))
                self.made.append(statement)

    def _forget(self, statement: Statement, of_query: bool) -> None:
        """Nothing depended on it any more, so it is as if it had never been."""
        name = str(getattr(statement, "name", ""))
        self.made = [
            each
            for each in self.made
            if not _is_about(each, name) or _defines(each) is not of_query
        ]

    @property
    def lasting(self) -> list[Statement]:
        """Statements that leave the same behind, with only the last definition of each query.

        It stands where the query got it: what it reads was there by then, though maybe not when
        the query was made, and what was read before may be gone.
        """
        created = {
            each.name.casefold(): each for each in self.made if isinstance(each, CreateQuery)
        }
        alters = [each for each in self.made if isinstance(each, AlterQuery)]
        last = {each.name.casefold(): each for each in alters if each.name.casefold() in created}
        found: list[Statement] = []
        for each in self.made:
            if isinstance(each, CreateQuery | AlterQuery) and each.name.casefold() in last:
                if each is last[each.name.casefold()]:
                    found.append(_redefined(created[each.name.casefold()], each))
            else:
                found.append(each)
        return found

    def texts(self) -> list[str]:
        """What to note of them."""
        made = [each.sql for each in self.lasting if lasts(each)]
        return [*made, *(each.sql for each in self.running.values())]

    def definitions(self, name: str) -> list[QueryStatement]:
        """The queries that a name has stood for, the newest first."""
        queries = [each for each in self.made if isinstance(each, CreateQuery | AlterQuery)]
        return [query_of(each) for each in reversed(queries) if _is_about(each, name)]


def _is_about(statement: Statement, name: str) -> bool:
    return str(getattr(statement, "name", "")).casefold() == name.casefold()


def _defines(statement: Statement) -> bool:
    """Whether a statement is about a query, and not about a stream or relation."""
    return isinstance(statement, CreateQuery | AlterQuery)


def _redefined(statement: CreateQuery, alter: AlterQuery) -> Statement:
    return parse_one(statement.sql.removesuffix(statement.query_sql) + alter.query_sql)
