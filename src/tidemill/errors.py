"""Every error that Tidemill raises: what is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any

__all__ = [
    "CatalogError",
    "DamageError",
    "ExecutionError",
    "PlanError",
    "PlanWarning",
    "ResourceError",
    "SqlSyntaxError",
    "TidemillError",
    "UnsupportedError",
    "masked",
    "nearest",
    "render",
]


def nearest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Find the candidate that a misspelt name most likely meant, whatever its case.

    >>> nearest("Prise", ["ts", "symbol", "price"])
    'price'
    >>> nearest("zzz", ["ts", "symbol", "price"]) is None
    True
    """
    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(candidate.casefold(), candidate)
    matches = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[matches[0]] if matches else None


_SECRETS = re.compile(
    r"(://[^:@/\s']*:)([^@\s]+)(?=@)|(\bpassword`?\s*=>\s*')([^']+)", re.IGNORECASE
)


def masked(text: str) -> str:
    """A piece of SQL with stars for its passwords, each letter one.

    >>> masked("postgres(url => 'postgresql://ann:secret@host/shop', table => 't')")
    "postgres(url => 'postgresql://ann:******@host/shop', table => 't')"
    >>> masked("kafka(sasl.password => 'secret', `ssl.key.password` => 'secret')")
    "kafka(sasl.password => '******', `ssl.key.password` => '******')"
    """
    return _SECRETS.sub(lambda m: (m[1] or m[3]) + "*" * len(m[2] or m[4]), text)


def _source_lines(sql: str, line: int, column: int, length: int) -> list[str]:
    # Split on newlines only: str.splitlines also breaks on characters that SQL keeps in a line.
    lines = sql.split("\n")
    if not 1 <= line <= len(lines):
        return []
    text = masked(lines[line - 1].rstrip("\r"))
    # A tab before the caret stays a tab, so that the caret lands under its character.
    pad = "".join("\t" if c == "\t" else " " for c in text[: column - 1]).ljust(column - 1)
    carets = "^" * max(1, min(length, len(text) - column + 1))
    return [f"    {text}", f"    {pad}{carets}"]


def render(
    label: str,
    message: str,
    line: int | None = None,
    column: int | None = None,
    length: int | None = None,
    help: str | None = None,
    sql: str | None = None,
) -> str:
    """Lay out a message with its place in the source and the remedy.

    >>> print(render("error", "unknown column `prise`", 1, 8, 5, "columns: price", "SELECT prise"))
    error: unknown column `prise`
      line 1, column 8
        SELECT prise
               ^^^^^
    help: columns: price
    """
    lines = [f"{label}: {message}"]
    if line is not None and column is not None:
        lines.append(f"  line {line}, column {column}")
        if sql is not None:
            lines.extend(_source_lines(sql, line, column, length or 1))
    if help:
        lines.append(f"help: {help}")
    return "\n".join(lines)


class _Diagnostic(Exception):
    """A message with a position and a remedy, kept both as fields and as text."""

    label = "error"

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        length: int | None = None,
        help: str | None = None,
        sql: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.length = length
        self.help = help
        self.sql = sql

    def fields(self) -> dict[str, Any]:
        """Return the facts of this message, for JSON and for other processes."""
        names = ("message", "line", "column", "length", "help", "sql")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return render(self.label, **self.fields())

    def __reduce__(self) -> tuple[Callable[..., _Diagnostic], tuple[Any, ...]]:
        # Exceptions cross process borders (Spark workers): keep the fields, not only the message.
        return _restore, (type(self), self.fields())


def _restore(cls: type[_Diagnostic], fields: dict[str, Any]) -> _Diagnostic:
    return cls(fields.pop("message"), **fields)


class TidemillError(_Diagnostic):
    """The base of all errors of Tidemill.

    >>> print(TidemillError("no such file", help="check the path"))
    error: no such file
    help: check the path
    """


class SqlSyntaxError(TidemillError):
    """The text is not a statement of the language."""


class PlanError(TidemillError):
    """The statement reads well but means nothing: names, types, windows, scopes."""


class UnsupportedError(PlanError):
    """The statement means something that Tidemill does not do."""


class CatalogError(TidemillError):
    """A stream, relation or function is missing, already exists, or is still in use."""


class ExecutionError(TidemillError):
    """A running query failed; the message names the step."""


class DamageError(ExecutionError):
    """A file of a durable folder is not as it was written; the message names it.

    >>> print(DamageError("run/ticks/000000000007.done", "it is empty"))
    error: run/ticks/000000000007.done is damaged: it is empty
    help: restore a backup, or let `tidemill repair` go back to the last whole point
    """

    def __init__(self, path: str, what: str) -> None:
        help = "restore a backup, or let `tidemill repair` go back to the last whole point"
        super().__init__(f"{path} is damaged: {what}", help=help)
        self.path, self.what = path, what

    def __reduce__(self) -> tuple[Callable[..., DamageError], tuple[Any, ...]]:
        return DamageError, (self.path, self.what)


class ResourceError(TidemillError):
    """There is no room for a query; the message says what it is estimated to need."""


class TimeLimitError(TidemillError):
    """Something took longer than it may."""


class PlanWarning(_Diagnostic, UserWarning):
    """A hint about a plan that works but may not be what was meant."""

    label = "warning"
