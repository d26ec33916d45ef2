"""Results as tables for people, and as CSV and JSON for programs."""

from __future__ import annotations

import io
import json
import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import polars as pl
import pyarrow as pa
from rich import box
from rich.table import Table
from rich.text import Text

NULL = "NULL"
OPEN = "∞"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TIMES = ("valid_from", "valid_to", "changed_at")


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def shown(value: Any) -> str:
    """A value as people read it.

    >>> shown(datetime(2024, 3, 1, 9)), shown(None), shown(2.50)
    ('2024-03-01 09:00:00', 'NULL', '2.5')
    """
    if value is None:
        return NULL
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str | int | Decimal | date):
        return str(value)
    return json.dumps(value, default=_plain, ensure_ascii=False)


def cell(name: str, value: Any) -> str:
    """A value of a column; the end of what never ends is ∞.

    What would move the cursor or change colours is shown as Python writes it.

    >>> cell("valid_to", None), cell("price", None), cell("item", "red \\x1b[31m")
    ('∞', 'NULL', 'red \\\\x1b[31m')
    """
    if value is None and name == "valid_to":
        return OPEN
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], shown(value))


def rich_table(table: pa.Table, plain: bool = False) -> Table:
    """Rows in columns, numbers to the right."""
    style = box.SIMPLE_HEAD
    result = Table(box=style, header_style="" if plain else "bold", pad_edge=False, show_edge=False)
    for field in table.schema:
        numeric = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        right = numeric or pa.types.is_decimal(field.type)
        colour = "" if plain else "cyan" if field.name in _TIMES else ""
        result.add_column(
            Text(field.name), justify="right" if right else "left", style=colour, overflow="fold"
        )
    for row in table.to_pylist(maps_as_pydicts="lossy"):
        result.add_row(*(Text(cell(name, value)) for name, value in row.items()))
    return result


def csv_text(table: pa.Table) -> str:
    """Rows as CSV with a header; nested values are written as JSON."""
    nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
    for name in nested:
        texts = [None if v is None else shown(v) for v in table.column(name).to_pylist()]
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, pa.array(texts, pa.string()))
    buffer = io.BytesIO()
    pl.DataFrame(table).write_csv(buffer, datetime_format="%Y-%m-%d %H:%M:%S%.f")
    return buffer.getvalue().decode()


def json_text(table: pa.Table) -> str:
    """One JSON object per line."""
    rows = table.to_pylist(maps_as_pydicts="lossy")
    return "".join(json.dumps(row, default=_plain, ensure_ascii=False) + "\n" for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, timedelta | Decimal) else repr(value)
