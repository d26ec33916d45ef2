"""What a chart of an answer shows: bars over time, one series for each key.

A row is a bar from `valid_from` to `valid_to`, at the height of a numeric column. Without such a
column, each key has a lane of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tidemill.algebra.types import name_of
from tidemill.errors import TidemillError, nearest
from tidemill.notebook.html import is_number
from tidemill.terminal.tables import cell
from tidemill.timeline import VALID_FROM, VALID_TO

MOST_ROWS = 5_000
"""Of more rows, the newest are drawn."""


@dataclass(frozen=True)
class ChartBar:
    """A row that holds from `start` on, until `end` if it ends."""

    start: int
    end: int | None
    height: float


@dataclass(frozen=True)
class Series:
    """The bars of one key, by their start."""

    key: str
    bars: tuple[ChartBar, ...]


@dataclass(frozen=True)
class ChartColumns:
    """Which columns to draw: the height (none for lanes), and what tells series apart."""

    height: str | None
    by: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """What is drawn, how many keys are left out, and how many rows there are in all."""

    choice: ChartColumns
    series: tuple[Series, ...]
    is_clock: bool
    keys_left_out: int = 0
    rows: int = 0


def chosen(schema: pa.Schema, height: str | None, by: Sequence[str] | str | None) -> ChartColumns:
    """The columns that were asked for; else the last measure, by what is not a number.

    A number with a fraction is rather a measure than an integer, which often names a thing.

    >>> columns = {"item": pa.int64(), "bids": pa.int64(), "mean": pa.float64()}
    >>> chosen(pa.schema(columns), None, None)
    ChartColumns(height='mean', by=('item',))
    """
    own = [field for field in schema if field.name not in (VALID_FROM, VALID_TO)]
    names = [field.name for field in own]
    numbers = [field.name for field in own if is_number(field.type)]
    if height is not None and height not in numbers:
        raise _no_height(height, schema, names, numbers)
    drawn = height or _last_measure(schema, numbers)
    return ChartColumns(drawn, _words(names, numbers, drawn) if by is None else _known(by, names))


def _last_measure(schema: pa.Schema, numbers: list[str]) -> str | None:
    fractions = [name for name in numbers if not pa.types.is_integer(schema.field(name).type)]
    return next(reversed(fractions or numbers), None)


def _words(names: list[str], numbers: list[str], height: str | None) -> tuple[str, ...]:
    """The columns that are no numbers; if all are, the first one, which often is a key."""
    words = [name for name in names if name not in numbers]
    return tuple(words or [name for name in names[:1] if name != height])


def _known(by: Sequence[str] | str, names: list[str]) -> tuple[str, ...]:
    wanted = (by,) if isinstance(by, str) else tuple(by)
    for name in wanted:
        if name not in names:
            raise _no_column(name, names)
    return wanted


def picture_of(table: pa.Table, choice: ChartColumns, top: int) -> Picture:
    """Bars by key: the `top` keys with the most rows, in the order of their names."""
    if top < 1:
        raise TidemillError(f"the chart cannot have {top} lines", help="top=8 draws eight keys")
    groups = _groups(table.slice(max(0, table.num_rows - MOST_ROWS)), choice)
    most = sorted(groups, key=lambda key: (-len(groups[key]), key))[:top]
    series = [Series(key, tuple(groups[key])) for key in sorted(most)]
    if choice.height is None:
        series = [_in_lane(each, lane) for lane, each in enumerate(series)]
    is_clock = pa.types.is_timestamp(table.schema.field(VALID_FROM).type)
    return Picture(choice, tuple(series), is_clock, len(groups) - len(most), table.num_rows)


def _in_lane(series: Series, lane: int) -> Series:
    return Series(series.key, tuple(ChartBar(bar.start, bar.end, lane) for bar in series.bars))


def _groups(table: pa.Table, choice: ChartColumns) -> dict[str, list[ChartBar]]:
    starts, ends = (_instants(table, name) for name in (VALID_FROM, VALID_TO))
    keys = [_keys(table, name) for name in choice.by]
    heights = _heights(table, choice.height)
    groups: dict[str, list[ChartBar]] = {}
    for number, height in enumerate(heights):
        if height is not None:
            key = " · ".join(texts[number] for texts in keys)
            bar = ChartBar(starts[number], ends[number], height)
            groups.setdefault(key, []).append(bar)
    return groups


def _keys(table: pa.Table, name: str) -> list[str]:
    return [cell(name, value) for value in table.column(name).to_pylist(maps_as_pydicts="lossy")]


def _heights(table: pa.Table, name: str | None) -> list[float | None]:
    """Numbers that can be drawn; the others leave a gap."""
    if name is None:
        return [0.0] * table.num_rows
    return [_finite(value) for value in table.column(name).to_pylist()]


def _finite(value: Any) -> float | None:
    try:
        return float(value) if value is not None and math.isfinite(value) else None
    except OverflowError:
        return None


def _instants(table: pa.Table, name: str) -> list[Any]:
    """Instants as integers; None is the open end."""
    values: list[Any] = table.column(name).cast(pa.int64()).to_pylist()
    return values


def _no_height(
    wanted: str, schema: pa.Schema, names: list[str], numbers: list[str]
) -> TidemillError:
    if wanted not in names:
        return _no_column(wanted, names)
    kind = name_of(schema.field(wanted).type)
    help = f"numbers: {', '.join(numbers) or 'none'}"
    return TidemillError(f"column `{wanted}` is {kind} and has no height", help=help)


def _no_column(wanted: str, names: list[str]) -> TidemillError:
    near = nearest(wanted, names)
    guess = f"did you mean `{near}`? " if near else ""
    help = f"{guess}columns: {', '.join(names)}"
    return TidemillError(f"the result has no column `{wanted}`", help=help)
