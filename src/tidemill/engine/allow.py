"""Which files and servers statements may name, where not everyone is trusted with all of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from tidemill.connectors.feeds import FORMATS, refusal
from tidemill.errors import CatalogError, nearest
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

_PATTERN = re.compile(r"[*?\[]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_AMBIGUOUS = frozenset("\0,\\{}")
"""What means something else to Spark than to those who read files here: lists, escapes, choices."""


_KAFKA = "kafka://"


@dataclass(frozen=True)
class _Brokers:
    """Brokers of Kafka, and a topic, or all of them if it is empty."""

    hosts: frozenset[str]
    topic: str

    def permit(self, options: Mapping[str, str]) -> bool:
        hosts = _hosts(options.get("servers", ""))
        return bool(hosts) and hosts <= self.hosts and self.topic in ("", options.get("topic"))


def _hosts(servers: str) -> frozenset[str]:
    """Hosts with their ports, as lists of brokers have them."""
    named = (each.strip().casefold() for each in servers.split(","))
    return frozenset(each if ":" in each else f"{each}:9092" for each in named if each)


@dataclass(frozen=True)
class AllowList:
    """Folders and files, servers of PostgreSQL and Kafka, and formats that statements may use.

    An entry is a path (and everything below it), a URL such as `postgresql://host:5432/shop` or
    `kafka://host:9092/bid`, or a format with parentheses, `delta()`, for whatever that can reach.

    >>> allow = AllowList.of(["/data/shop", "postgresql://db/shop"])
    >>> allow.permits("csv", {"path": "/data/shop/bids/*.csv"})
    True
    >>> allow.permits("csv", {"path": "/data/shop/../secrets.csv"})
    False
    """

    paths: tuple[Path, ...] = ()
    servers: tuple[Mapping[str, str], ...] = ()
    formats: frozenset[str] = frozenset()
    named: tuple[str, ...] = ()
    brokers: tuple[_Brokers, ...] = ()

    @staticmethod
    def of(entries: Iterable[str]) -> AllowList:
        """The list of some entries."""
        paths: list[Path] = []
        servers: list[Mapping[str, str]] = []
        formats: set[str] = set()
        named: list[str] = []
        brokers: list[_Brokers] = []
        for entry in entries:
            if entry.endswith("()"):
                formats.add(entry[:-2].casefold())
            elif entry.startswith(("postgresql://", "postgres://")):
                servers.append(_server({"url": entry}))
            elif entry.startswith(_KAFKA):
                hosts, _, topic = entry.removeprefix(_KAFKA).partition("/")
                brokers.append(_Brokers(_hosts(hosts), topic))
            else:
                paths.append(_real(entry))
                named.append(os.path.abspath(entry))
        return AllowList(
            tuple(paths), tuple(servers), frozenset(formats), tuple(named), tuple(brokers)
        )

    def check(self, statement: Statement) -> None:
        """Refuse a statement with a source or sink that is not on the list."""
        call = _connector(statement)
        if call is not None and not self._takes(call, isinstance(statement, _SOURCES)):
            raise error_at(
                CatalogError,
                f"{call.format}(...) is not allowed here",
                call.tree,
                _guess(call.format)
                + "whoever runs this can allow a folder, a server, or a format, as with "
                "tidemill serve --allow data/",
            )

    def _takes(self, call: ConnectorCall, is_source: bool) -> bool:
        if not self.permits(call.format, call.options):
            return False
        # What Spark reads, it opens by itself, wherever links lead by then.
        is_own = call.format.casefold() in FORMATS and call.format.casefold() not in self.formats
        return not (is_source and is_own) or refusal(call.format, call.options) is None

    def refuse_leading_out(self, path: object) -> None:
        """Fail if a path into the folders of the list leads elsewhere by now."""
        if self.around(path) and not self._permits_path(str(path)):
            help = "a link on the way has changed"
            raise CatalogError(f"{path} leads outside the allowed folders", help=help)

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
        if kind == "kafka":
            files = [value for name, value in given.items() if name.endswith(".location")]
            return any(each.permit(given) for each in self.brokers) and all(
                map(self._permits_path, files)
            )
        # Other formats might be any class of Spark, and other options might name other files.
        known = kind in FORMATS and set(given) <= _OF_FILES
        return known and self._permits_path(given.get("path"))

    def around(self, path: object) -> tuple[str, ...]:
        """All folders of the list, if the text of a path leads into one of them; else nothing.

        Links on the way do not count: where they lead is seen when files are opened.
        """
        local = _local(path) if isinstance(path, str) else None
        if local is None:
            return ()
        texts = (os.path.abspath(local), os.path.realpath(os.path.dirname(_fixed(local)) or "."))
        inside = any(Path(text).is_relative_to(root) for text in texts for root in self._roots)
        return tuple(map(str, self.paths)) if inside else ()

    @property
    def _roots(self) -> tuple[Path, ...]:
        """The folders as they were named, and where they are."""
        return (*self.paths, *map(Path, self.named))

    def _permits_path(self, path: str | None) -> bool:
        local = None if path is None else _local(path)
        if local is None:
            return False
        if _fixed(local) != local and ".." in Path(local).parts:
            return False  # behind a pattern, it leads out of folders that nobody knows yet
        return self._holds(_fixed(local)) and all(map(self._holds, _reached(local)))

    def _holds(self, path: str) -> bool:
        return any(_real(path).is_relative_to(allowed) for allowed in self.paths)


def _guess(format: str) -> str:
    near = None if format.casefold() in FORMATS else nearest(format, FORMATS)
    return f"did you mean {near}? " if near else ""


_SOURCES = (CreateStream, CreateRelation)


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


def _fixed(path: str) -> str:
    """The part of a path that leaves nothing open: the folder in which a pattern begins."""
    start = _PATTERN.split(path, maxsplit=1)[0]
    return start if start == path or start.endswith(os.sep) else os.path.dirname(start)


def _reached(path: str) -> Iterator[str]:
    """What a path or pattern leads to, as far as there is something: links may lead elsewhere."""
    for found in glob(path, recursive=True):
        yield found
        for folder, folders, files in os.walk(found):
            yield from (os.path.join(folder, each) for each in (*folders, *files))


def _local(path: str) -> str | None:
    """The path on this machine; None if it is elsewhere, or if that is unknown."""
    if _AMBIGUOUS & set(path) or not path:
        return None
    if not _SCHEME.match(path):
        return path
    # Whether % stands for something else in a URI depends on who reads it.
    is_plain = path.startswith("file:///") and not set(path) & set("%?#")
    return path.removeprefix("file://") if is_plain else None


_PLACE = ("host", "hostaddr", "port", "dbname", "service")
_FILES = ("passfile", "servicefile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir")


def _server(options: Mapping[str, str]) -> dict[str, str]:
    """Where a server is, as libpq understands the options."""
    try:  # not everyone has PostgreSQL
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ModuleNotFoundError:
        return {}
    given = {name: options[name] for name in ("host", "port", "dbname") if name in options}
    try:
        found = conninfo_to_dict(options.get("url", ""), **given)
    except ProgrammingError:
        return {}
    place = {name: str(found[name]) for name in (*_PLACE, *_FILES) if found.get(name)}
    # Without a host it is the socket of this machine, and no other host.
    nothing = dict.fromkeys(("host", "hostaddr", "service", *_FILES), "")
    return {"port": "5432", **nothing, **place}
