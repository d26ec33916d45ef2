"""The catalog: streams, relations, and what is derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from tidemill.algebra import SourceKind
from tidemill.catalog import Derived, SourceInfo
from tidemill.engine import Engine
from tidemill.engine.describing import entry_columns, sql_of
from tidemill.errors import masked
from tidemill.runtime.progress import SourceProgress
from tidemill.show.tables import columns_of, domain_of
from tidemill.wire.catalog import (
    CatalogEntries,
    DerivedEntry,
    DerivedKind,
    RelationEntry,
    StreamEntry,
)

_NOTHING_READ = SourceProgress(rows=0, late_rows=0, watermark=None)


def catalog_of(
    engine: Engine, read: Mapping[str, SourceProgress], rates: Mapping[str, float]
) -> CatalogEntries:
    """All streams, relations and derived streams, with what was `read` of each."""
    found = CatalogEntries(streams=[], relations=[], derived=[])
    users = {each.name: list(each.used_by) for each in engine.listing()}
    for name in engine.catalog.names:
        entry, used_by = engine.catalog.lookup(name), users.get(name, [])
        if isinstance(entry, Derived):
            found.derived.append(_derived(entry, used_by))
        elif entry.kind is SourceKind.STREAM:
            progress = read.get(name, _NOTHING_READ)
            found.streams.append(_stream(entry, used_by, progress, rates.get(name, 0.0)))
        else:
            found.relations.append(_relation(entry, used_by))
    return found


def _stream(info: SourceInfo, used_by: list[str], read: SourceProgress, rate: float) -> StreamEntry:
    return StreamEntry(
        name=info.name,
        columns=columns_of(entry_columns(info)),
        time=info.time_column,
        domain=domain_of(info.domain),
        slack=info.slack,
        pushed=is_pushed(info),
        used_by=used_by,
        sql=sql_of(info),
        rows=read.rows,
        late_rows=read.late_rows,
        watermark=read.watermark,
        rate=rate,
    )


def is_pushed(info: SourceInfo) -> bool:
    """Whether rows of a source are pushed into it."""
    return info.kind is SourceKind.STREAM and info.format is None


def _relation(info: SourceInfo, used_by: list[str]) -> RelationEntry:
    return RelationEntry(
        name=info.name,
        columns=columns_of(info.schema),
        kind=info.kind.value,
        domain=domain_of(info.domain),
        valid=[info.valid_from, info.valid_to] if info.valid_from else None,
        rows=info.rows,
        used_by=used_by,
        sql=sql_of(info),
    )


def _derived(entry: Derived, used_by: list[str]) -> DerivedEntry:
    return DerivedEntry(
        name=entry.name,
        columns=columns_of(entry.schema),
        kind=cast(DerivedKind, entry.word),
        domain=domain_of(entry.domain),
        depends_on=sorted(entry.depends_on),
        used_by=used_by,
        sql=masked(entry.sql),
    )
