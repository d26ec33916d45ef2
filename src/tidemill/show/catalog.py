"""The catalog: streams, relations, and what is derived from them."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.algebra import SourceKind
from tidemill.algebra.types import name_of
from tidemill.analyze import Derived, SourceInfo
from tidemill.engine import Engine
from tidemill.errors import masked
from tidemill.runtime.progress import SourceProgress
from tidemill.show.tables import columns_of, domain_of
from tidemill.wire.base import Column
from tidemill.wire.catalog import CatalogEntries, DerivedEntry, RelationEntry, StreamEntry

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
        columns=_columns(info),
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
        kind="relation" if entry.relation else "stream",
        domain=domain_of(entry.domain),
        depends_on=sorted(entry.depends_on),
        used_by=used_by,
        sql=masked(entry.sql),
    )


def _columns(info: SourceInfo) -> list[Column]:
    """The columns of a stream as they were declared, or its own and then its time."""
    if info.declared.names:
        return columns_of(info.declared)
    own = columns_of(info.schema)
    if info.time_column is None or info.time_type is None:
        return own
    return [*own, Column(name=info.time_column, type=name_of(info.time_type))]


def sql_of(info: SourceInfo) -> str:
    """A statement that declares a source like this one; options may hold passwords."""
    word = "STREAM" if info.kind is SourceKind.STREAM else "RELATION"
    columns = ", ".join(f"{column.name} {column.type}" for column in _columns(info))
    text = f"CREATE {word} {info.name} ({columns})"
    if info.format is not None:
        options = ", ".join(f"{name} => {_literal(value)}" for name, value in info.options.items())
        text += f" SOURCE {info.format}({options})"
    if info.time_column is not None:
        text += f" ORDERED BY {info.time_column}"
    return masked(text)


def _literal(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).upper()
