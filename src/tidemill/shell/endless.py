"""Queries that have no last answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from tidemill.errors import UnsupportedError
from tidemill.shell.backend import Named
from tidemill.sql import QueryStatement, error_at


def refuse_endless(query: QueryStatement, names: Sequence[Named]) -> None:
    """Refuse a SELECT that reads a stream into which rows are pushed, and say what to do."""
    known = {named.name.casefold(): named for named in names}
    for table in query.tree.find_all(exp.Table):
        if pushed := _pushed(table.name, known):
            raise error_at(
                UnsupportedError,
                f"rows are pushed into `{pushed}` for ever: there is no last answer",
                table.this,
                "\\watch SELECT ... shows what holds now, CREATE QUERY ... AS keeps it running",
            )


def _pushed(name: str, known: dict[str, Named]) -> str | None:
    """The stream without an end that a source is, or is made of."""
    found = known.get(name.casefold())
    if found is None or found.is_query:  # what queries answer is kept
        return None
    if found.pushed:
        return found.name
    inner: Iterable[str | None] = (_pushed(each, known) for each in found.reads)
    return next((each for each in inner if each is not None), None)
