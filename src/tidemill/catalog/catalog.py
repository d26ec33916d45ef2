"""What queries can refer to: sources, derived streams and user functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from tidemill.algebra import (
    Field,
    Plan,
    Range,
    Recurrence,
    Scalar,
    Schema,
    SourceKind,
    UserAggregate,
)
from tidemill.algebra.unnest import ONE_ROW, ONE_ROW_COLUMNS
from tidemill.catalog.hints import Hints
from tidemill.errors import CatalogError, nearest
from tidemill.expressions import UserFunction
from tidemill.sql import OptionValue
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class SourceInfo:
    """A stream or relation that comes from outside.

    The schema has no time column: a tuple's time is its validity, not a part of the tuple. Only
    a query that names the time column reads it. `retain` is for how long, in steps of the time
    axis, rows are kept for queries that start later. `idle` is for how many seconds the source
    may bring no rows and still hold others back. Rows that are further `ahead` are kept out.
    `declared` are all columns that rows bring, in the order in which CREATE STREAM lists them and
    files without names have them; `computed` are those that are made of these, and `required` those
    that are never NULL. `ranges` are those of columns to which rows are held, `recurs` is how
    often rows may agree in some columns. `declaration` is the statement that made it, if one did.
    """

    name: str
    schema: Schema
    kind: SourceKind = SourceKind.STREAM
    domain: TimeDomain | None = TimeDomain.TICKS
    time_column: str | None = None
    time_type: pa.DataType | None = None
    slack: int = 0
    retain: int | None = None
    ahead: int | None = None
    idle: float | None = None
    bounded: bool = False
    declared: Schema = field(default_factory=lambda: Schema(()))
    format: str | None = None
    arguments: tuple[OptionValue, ...] = ()
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    valid_from: str | None = None
    valid_to: str | None = None
    rows: int | None = None
    ranges: Mapping[str, Range] = field(default_factory=dict, hash=False)
    recurs: Recurrence | None = None
    computed: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    required: tuple[str, ...] = ()
    declaration: str = field(default="", compare=False)

    @property
    def brought(self) -> Schema:
        """The columns that rows bring, their time among them."""
        if self.declared.fields:
            return self.declared
        if self.time_column is None or self.time_type is None:
            return self.schema
        return Schema((*self.schema, Field(self.time_column, self.time_type)))

    @property
    def columns(self) -> Schema:
        """All columns that a query can name: those that rows bring, and those that are computed."""
        made = (Field(name, scalar.type) for name, scalar in self.computed.items())
        return Schema((*self.brought, *made))


@dataclass(frozen=True)
class Derived:
    """A stream, relation or view (`word`) that a query defines; or that query, by its name."""

    name: str
    plan: Plan
    schema: Schema
    domain: TimeDomain | None
    sql: str
    depends_on: frozenset[str]
    word: str = "stream"
    hints: Hints = field(default_factory=Hints)


Entry = SourceInfo | Derived

_ONE_ROW = SourceInfo(
    ONE_ROW,
    ONE_ROW_COLUMNS,
    SourceKind.CONSTANT,
    domain=None,
    bounded=True,
    declared=ONE_ROW_COLUMNS,
    rows=1,
)


class Catalog:
    """Streams and relations by name, whatever its case, and who depends on them.

    >>> catalog = Catalog()
    >>> catalog.add_source(SourceInfo("Bid", Schema.of(item=pa.int64())))
    >>> catalog.lookup("bid").name
    'Bid'
    """

    def __init__(self) -> None:
        self.functions: dict[str, UserFunction] = {}
        self.aggregates: dict[str, UserAggregate] = {}
        self._entries: dict[str, Entry] = {}
        self._queries: dict[str, Derived] = {}
        self._holds: dict[str, frozenset[str]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all streams and relations, as they were written."""
        return tuple(entry.name for entry in self._entries.values())

    def copy(self) -> Catalog:
        """Another catalog that knows the same, for now."""
        other = Catalog()
        other.functions, other.aggregates = dict(self.functions), dict(self.aggregates)
        other._entries, other._holds = dict(self._entries), dict(self._holds)
        other._queries = dict(self._queries)
        return other

    def is_like(self, other: Catalog, reads: Iterable[str] = ()) -> bool:
        """Whether both know the very same streams, relations, functions, and queries by a name."""
        names = [name.casefold() for name in reads]
        if any(self._queries.get(name) is not other._queries.get(name) for name in names):
            return False
        return all(
            mine.keys() == theirs.keys() and all(theirs[name] is mine[name] for name in mine)
            for mine, theirs in (
                (self._entries, other._entries),
                (self.functions, other.functions),
                (self.aggregates, other.aggregates),
            )
        )

    def add_source(self, source: SourceInfo) -> None:
        """Make a source known."""
        self._add(source)

    def add(self, entry: Entry, replaces: bool) -> None:
        """Make something known; it may replace what has its name, if nothing depends on that."""
        if replaces and (known := self.find(entry.name)) is not None:
            if isinstance(entry, Derived):
                refuse_itself(known, entry.depends_on)
            self.drop(entry.name, "replace")
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        if (known := self.readable(entry.name)) is not None:
            help = f"choose another name, or DROP {kind_of(known).upper()} {known.name} first"
            raise CatalogError(f"{kind_of(known)} `{known.name}` already exists", help=help)
        self._entries[entry.name.casefold()] = entry

    def find(self, name: str) -> Entry | None:
        """The stream or relation of that name, if there is one."""
        return self._entries.get(name.casefold()) or (_ONE_ROW if name == ONE_ROW else None)

    def readable(self, name: str) -> Entry | None:
        """What FROM reads by that name: a stream, a relation, or the answer of a query."""
        return self.find(name) or self._queries.get(name.casefold())

    def reads_queries(self, names: Iterable[str]) -> bool:
        """Whether some of what is named is a query, or is made of one."""
        for name in names:
            entry = self.readable(name)
            if isinstance(entry, Derived) and (
                entry.word == "query" or self.reads_queries(entry.depends_on)
            ):
                return True
        return False

    def define_query(self, query: Derived) -> None:
        """Let others read the answer of a query by its name; it may have had another."""
        self._queries[query.name.casefold()] = query

    def forget_query(self, name: str) -> None:
        """Know nothing more of a query that nothing reads."""
        self.refuse_used(self._queries[name.casefold()], "drop")
        del self._queries[name.casefold()]

    def lookup(self, name: str) -> Entry:
        """The stream or relation of that name."""
        if (entry := self.find(name)) is None:
            raise CatalogError(f"unknown stream or relation `{name}`", help=self.remedy(name))
        return entry

    def remedy(self, name: str, others: Iterable[str] = ()) -> str:
        """What to do about an unknown name."""
        names = [*others, *self.names, *(query.name for query in self._queries.values())]
        if not names:
            return "there are no streams yet: make one with CREATE STREAM or engine.stream(...)"
        near = nearest(name, names)
        guess = f"did you mean `{near}`? " if near else ""
        return f"{guess}known: {', '.join(sorted(names, key=str.casefold))}"

    def drop(self, name: str, doing: str = "drop") -> None:
        """Forget a stream or relation that nothing depends on."""
        self.refuse_used(self.lookup(name), doing)
        del self._entries[name.casefold()]

    def refuse_used(self, entry: Entry, doing: str) -> None:
        """Refuse to do something with what others read."""
        if users := self.dependents(entry.name):
            shown = ", ".join(f"`{user}`" for user in users)
            verb = "depends" if len(users) == 1 else "depend"
            message = f"cannot {doing} {kind_of(entry)} `{entry.name}`: {shown} {verb} on it"
            raise CatalogError(message, help="stop or drop what depends on it first")

    def dependents(self, name: str) -> tuple[str, ...]:
        """The derived streams and running queries that use it directly, by name."""
        wanted = name.casefold()
        uses: dict[str, frozenset[str]] = {
            entry.name: entry.depends_on
            for entry in self._entries.values()
            if isinstance(entry, Derived)
        }
        uses.update(self._holds)
        found = (user for user, on in uses.items() if wanted in map(str.casefold, on))
        return tuple(sorted(found, key=str.casefold))

    def hold(self, query_name: str, depends_on: Iterable[str]) -> None:
        """Keep what a running query reads from being dropped."""
        self._holds[query_name] = frozenset(depends_on)

    def release(self, query_name: str) -> None:
        """Release what a query held, if it held anything."""
        self._holds.pop(query_name, None)


def refuse_itself(entry: Entry, reads: Iterable[str]) -> None:
    """Refuse a new definition that reads what it replaces: there would be no beginning."""
    if entry.name.casefold() in map(str.casefold, reads):
        message = f"{kind_of(entry)} `{entry.name}` would read itself"
        raise CatalogError(message, help="write out what it reads now, or choose another name")


def kind_of(entry: Entry) -> str:
    """What something is called."""
    if isinstance(entry, Derived):
        return entry.word
    return "stream" if entry.kind is SourceKind.STREAM else "relation"
