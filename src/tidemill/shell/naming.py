"""Everything that has a name, as the shell lists it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidemill.client import Catalog, ColumnInfo, Derived, QueryInfo
from tidemill.shell.backend import Column, Named
from tidemill.timeline import TimeDomain


def names_of(catalog: Catalog, queries: Iterable[QueryInfo]) -> list[Named]:
    """Streams, relations, what is derived from them, and queries."""
    return [*_sources(catalog), *map(_derived, catalog.derived), *map(query_of, queries)]


def _sources(catalog: Catalog) -> Iterator[Named]:
    for stream in catalog.streams:
        yield Named(
            stream.name, "stream", _columns(stream.columns), stream.time, stream.slack,
            _domain(stream.domain), stream.pushed, used_by=stream.used_by,
        )  # fmt: skip
    for relation in catalog.relations:
        yield Named(
            relation.name, "relation", _columns(relation.columns),
            domain=_domain(relation.domain), used_by=relation.used_by,
        )  # fmt: skip


def _columns(columns: Iterable[ColumnInfo]) -> tuple[Column, ...]:
    return tuple(Column(column.name, column.type) for column in columns)


def _domain(name: str | None) -> TimeDomain | None:
    return None if name is None else TimeDomain[name.upper()]


def _derived(found: Derived) -> Named:
    return Named(
        found.name, f"derived {found.kind}", _columns(found.columns), domain=_domain(found.domain),
        reads=found.depends_on, used_by=found.used_by, sql=found.sql,
    )  # fmt: skip


def query_of(found: QueryInfo) -> Named:
    """A query, as the shell lists it."""
    return Named(
        found.name, "query", _columns(found.columns), domain=_domain(found.domain),
        state=found.state, error=found.error or "", complete_from=found.complete_from or 0,
        reads=found.depends_on, sql=found.sql,
    )  # fmt: skip
