"""Which files and servers statements may name, where not everyone is trusted with all of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from urllib.parse import unquote, urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from tidemill.errors import CatalogError
from tidemill.sql import (
    ConnectorCall,
    CreateQuery,
    CreateRelation,
    CreateStream,
    InsertInto,
    Statement,
    error_at,
)

_HARMLESS = frozenset({"console", "memory", "rate"})
"""Formats that read no file and open no connection."""

_PATTERN = re.compile(r"[*?\[{]")
_CHOICE = re.compile(r"\{[^}]*\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


@dataclass(frozen=True)
class AllowList:
    """Folders and files, servers of PostgreSQL, and formats that statements may use.

    An entry is a path (and everything below it), a URL such as `postgresql://host:5432/shop`, or a
    format with parentheses, `kafka()`, for whatever that can reach.

    >>> allow = AllowList.of(["/data/shop", "postgresql://db/shop"])
    >>> allow.permits("csv", {"path": "/data/shop/bids/*.csv"})
    True
    >>> allow.permits("csv", {"path": "/data/shop/../secrets.csv"})
    False
    """

    paths: tuple[Path, ...] = ()
    servers: tuple[Mapping[str, str], ...] = ()
    formats: frozenset[str] = frozenset()

    @staticmethod
    def of(entries: Iterable[str]) -> AllowList:
        """The list of some entries."""
        paths: list[Path] = []
        servers: list[Mapping[str, str]] = []
        formats: set[str] = set()
        for entry in entries:
            if entry.endswith("()"):
                formats.add(entry[:-2].casefold())
            elif entry.startswith(("postgresql://", "postgres://")):
                servers.append(_server({"url": entry}))
            else:
                paths.append(_real(entry))
        return AllowList(tuple(paths), tuple(servers), frozenset(formats))

    def check(self, statement: Statement) -> None:
        """Refuse a statement with a source or sink that is not on the list."""
        call = _connector(statement)
        if call is not None and not self.permits(call.format, call.options):
            raise error_at(
                CatalogError,
                f"{call.format}(...) is not allowed here",
                call.tree,
                "whoever runs this can allow a folder, a server, or a format, as with "
                "tidemill serve --allow data/",
            )

    def permits(self, format: str, options: Mapping[str, object]) -> bool:
        """Whether a source or sink with these options is on the list."""
        kind = format.casefold()
        given = {
            name.casefold(): str(value) for name, value in options.items() if value is not None
        }
        if kind in _HARMLESS or kind in self.formats:
            return True
        if kind == "postgres":
            return any(allowed.items() <= _server(given).items() for allowed in self.servers)
        # Other options of a format might name other files, or a server: then it must be allowed.
        return set(given) <= _OF_FILES and self._permits_path(given.get("path"))

    def _permits_path(self, path: str | None) -> bool:
        local = None if path is None else _local(path)
        if local is None:
            return False
        start = _PATTERN.split(local, maxsplit=1)[0]
        if start != local:
            if ".." in Path(local).parts:
                return False  # behind a pattern, it leads out of folders that nobody knows yet
            start = start if start.endswith(os.sep) else os.path.dirname(start)
        return self._holds(start) and all(map(self._holds, _reached(local)))

    def _holds(self, path: str) -> bool:
        return any(_real(path).is_relative_to(allowed) for allowed in self.paths)


def _connector(statement: Statement) -> ConnectorCall | None:
    match statement:
        case CreateStream() | CreateRelation():
            return statement.connector
        case InsertInto() | CreateQuery():
            return statement.sink
    return None


_OF_FILES = frozenset(
    {"path", "header", "form", "sep", "delimiter", "mode", "maxfilespertrigger", "multiline"}
)
"""Options of formats of files that name no other file."""


def _real(path: str) -> Path:
    """Where a path leads, whatever links it goes through."""
    return Path(os.path.realpath(path or "."))


def _reached(path: str) -> Iterator[str]:
    """What a path or pattern leads to, as far as there is something: links may lead elsewhere."""
    for found in glob(_CHOICE.sub("*", path), recursive=True):
        yield found
        for folder, folders, files in os.walk(found):
            yield from (os.path.join(folder, each) for each in (*folders, *files))


def _local(path: str) -> str | None:
    """The path on this machine; None if it is elsewhere, or if that cannot be told."""
    if "\0" in path or "," in path:  # Spark takes a list
        return None
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    parts = urlsplit(path)
    return unquote(parts.path) if scheme[1].lower() == "file" and not parts.netloc else None


_PLACE = ("host", "hostaddr", "port", "dbname", "service")


def _server(options: Mapping[str, str]) -> dict[str, str]:
    """Where a server is, as libpq understands the options."""
    given = {name: options[name] for name in ("host", "port", "dbname") if name in options}
    try:
        found = conninfo_to_dict(options.get("url", ""), **given)
    except ProgrammingError:
        return {}
    place = {name: str(found[name]) for name in _PLACE if found.get(name)}
    return {"port": "5432", "hostaddr": "", "service": "", **place}
