"""An engine as HTML: its streams, relations, views and queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.errors import masked
from tidemill.notebook.html import code, framed, heading, note, texts


class ShownEntry(Protocol):
    """What is shown of something that has a name."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def depends_on(self) -> tuple[str, ...]: ...

    @property
    def error(self) -> str: ...


def engine_html(place: str, entries: Iterable[ShownEntry], columns: Callable[[str], Schema]) -> str:
    """An engine: where its queries run, and all that has a name, with its columns."""
    found = list(entries)
    sources = [each for each in found if each.kind != "query"]
    queries = [each for each in found if each.kind == "query"]
    empty = note("nothing is declared yet: engine.stream(...), or CREATE STREAM")
    return framed(
        heading("Engine", place),
        "" if found else empty,
        texts([_source(each, columns(each.name)) for each in sources]),
        texts([_query(each) for each in queries]),
        *(code(masked(each.error)) for each in queries if each.error),
    )


def _source(entry: ShownEntry, columns: Schema) -> dict[str, str]:
    listed = ", ".join(f"{field.name} {name_of(field.type)}" for field in columns)
    reads = ", ".join(entry.depends_on)
    return {"name": entry.name, "kind": entry.kind, "columns": listed, "reads": reads}


def _query(entry: ShownEntry) -> dict[str, str]:
    return {"query": entry.name, "state": entry.state, "reads": ", ".join(entry.depends_on)}
