"""Everything that has a name, as the shell lists it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidemill.shell.backend import Named
from tidemill.timeline import TimeDomain
from tidemill.wire.catalog import CatalogEntries, DerivedEntry
from tidemill.wire.queries import QueryEntry


def names_of(catalog: CatalogEntries, queries: Iterable[QueryEntry]) -> list[Named]:
    """Streams, relations, what is derived from them, and queries."""
    return [*_sources(catalog), *map(_derived, catalog.derived), *map(query_of, queries)]


def _sources(catalog: CatalogEntries) -> Iterator[Named]:
    for stream in catalog.streams:
        yield Named(
            stream.name, "stream", tuple(stream.columns), stream.time, stream.slack,
            _domain(stream.domain), stream.pushed, used_by=tuple(stream.used_by),
        )  # fmt: skip
    for relation in catalog.relations:
        yield Named(
            relation.name, "relation", tuple(relation.columns),
            domain=_domain(relation.domain), used_by=tuple(relation.used_by),
        )  # fmt: skip


def _domain(name: str | None) -> TimeDomain | None:
    return None if name is None else TimeDomain[name.upper()]


def _derived(found: DerivedEntry) -> Named:
    return Named(
        found.name, _kind(found), tuple(found.columns), domain=_domain(found.domain),
        reads=tuple(found.depends_on), used_by=tuple(found.used_by), sql=found.sql,
    )  # fmt: skip


def _kind(found: DerivedEntry) -> str:
    return "view" if found.kind == "view" else f"derived {found.kind}"


def query_of(found: QueryEntry) -> Named:
    """A query, as the shell lists it."""
    return Named(
        found.name, "query", tuple(found.columns), domain=_domain(found.domain),
        state=found.state, error=found.error or "", complete_from=found.complete_from or 0,
        reads=tuple(found.depends_on), sql=found.sql,
    )  # fmt: skip
