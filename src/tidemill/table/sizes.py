"""The windows and granules of streams, and their sizes, from values of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlglot import exp

from tidemill.errors import TidemillError, nearest
from tidemill.sql import (
    UNIT_MICROS,
    Duration,
    GranularityClause,
    RowCount,
    StreamWindow,
    Unbounded,
)
from tidemill.sql.durations import unit_name
from tidemill.table.names import identifier

__all__ = ["Size", "duration", "granularity", "window"]

Size = int | str | timedelta
"""A length of time: `"5 minutes"`, a `timedelta`, or a number for integer time."""

_WRITTEN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*\Z")
_HELP: Final = 'write for example "5 minutes", a timedelta, or a number for integer time'
_KINDS: Final = ("range", "rows", "session", "unbounded", "now")


def duration(size: Size) -> Duration:
    """A length of time as a syntax tree.

    >>> from tidemill.sql import Tidemill
    >>> [duration(size).sql(dialect=Tidemill) for size in (5, "5 min", timedelta(minutes=5))]
    Traceback (most recent call last):
    ...
    tidemill.errors.TidemillError: error: unknown time unit `min`
    help: did you mean `MINUTE`? units: MICROSECOND, ...
    >>> [duration(size).sql(dialect=Tidemill) for size in (5, "5 minutes", timedelta(seconds=2))]
    ['5', '5 MINUTES', '2 SECONDS']
    """
    if isinstance(size, timedelta):
        return _of_time(size // timedelta(microseconds=1))
    written = _WRITTEN.match(str(size))
    if isinstance(size, bool) or not written:
        raise TidemillError(f"{size!r} is not a length of time", help=_HELP)
    number, unit = written.groups()
    return Duration(this=exp.Literal.number(number), unit=exp.var(_unit(unit)) if unit else None)


def _of_time(micros: int) -> Duration:
    """A number of microseconds in the largest unit that divides it."""
    unit, length = next(
        (unit, length)
        for unit, length in sorted(UNIT_MICROS.items(), key=lambda each: -each[1])
        if micros % length == 0
    )
    return Duration(this=exp.Literal.number(micros // length), unit=exp.var(unit))


def _unit(text: str) -> str:
    if name := unit_name(text):
        return name
    near, units = nearest(text, UNIT_MICROS), f"units: {', '.join(UNIT_MICROS)}"
    help = f"did you mean `{near}`? {units}" if near else units
    raise TidemillError(f"unknown time unit `{text}`", help=help)


def window(
    *,
    range: Size | tuple[Size, Size] | None,
    rows: int | tuple[int, int] | None,
    session: Size | None,
    unbounded: bool,
    now: bool,
    slide: Size | None,
    delay: Size | None,
    partition_by: str | Sequence[str],
) -> StreamWindow:
    """The window of a stream; a pair of sizes bounds it."""
    given = dict(zip(_KINDS, (range, rows, session, unbounded or None, now or None), strict=True))
    kinds = [kind for kind in _KINDS if given[kind] is not None]
    if len(kinds) != 1:
        help = 'write for example window(range="5 minutes") or window(rows=100)'
        raise TidemillError(f"a window is of one kind, not of {len(kinds)}", help=help)
    kind = kinds[0]
    columns = [partition_by] if isinstance(partition_by, str) else partition_by
    length = _rows if kind == "rows" else duration
    return StreamWindow(
        kind="RANGE" if kind == "unbounded" else kind.upper(),
        **_size(kind, given[kind], length),
        partition_by=[exp.Column(this=identifier(name)) for name in columns] or None,
        slide=None if slide is None else length(slide),
        delay=None if delay is None else duration(delay),
    )


def _size(kind: str, size: Any, length: Callable[[Any], exp.Expr]) -> dict[str, exp.Expr]:
    if kind in ("now", "unbounded"):
        return {} if kind == "now" else {"size": Unbounded()}
    if isinstance(size, tuple):
        low, high = size
        return {"min": length(low), "max": length(high)}
    return {"size": length(size)}


def _rows(number: Any) -> RowCount:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        help = 'write for example rows=100; for a window of time range="10 minutes"'
        raise TidemillError(f"{number!r} is not a number of rows, at least 1", help=help)
    return RowCount(this=exp.Literal.number(number))


def granularity(size: Size | None, coarsest: Size | None, finest: Size | None) -> GranularityClause:
    """The granule of a result: one size, or bounds."""
    if (size is None) == (coarsest is None or finest is None):
        help = 'write granularity("1 minute"), or granularity(coarsest=..., finest=...)'
        raise TidemillError("a granularity has one size, or two bounds", help=help)
    if size is not None:
        return GranularityClause(size=duration(size))
    assert coarsest is not None
    assert finest is not None
    return GranularityClause(coarsest=duration(coarsest), finest=duration(finest))
