"""Rows that are pushed, from files and from JSON at the prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc

from tidemill.errors import TidemillError


def rows_to_push(text: str) -> pa.Table:
    """The rows of a file (.csv; .json, an array or one object per line), or of JSON itself.

    >>> rows_to_push('{"item": "lamp", "minute": 1}').to_pylist()
    [{'item': 'lamp', 'minute': 1}]
    """
    if text.startswith(("{", "[")):
        return _table(_parsed(text, "the rows"))
    path = Path(text).expanduser()
    try:
        if path.suffix.lower() == ".csv":
            return pc.read_csv(path)
        return _table(_parsed(path.read_text("utf-8-sig"), text))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TidemillError(f"cannot read {text}: {reason}") from error
    except pa.ArrowInvalid as error:
        raise TidemillError(f"{text} is not CSV with a header: {error}") from error


def _parsed(text: str, name: str) -> list[dict[str, Any]]:
    try:
        if text.lstrip().startswith("["):
            rows = json.loads(text)
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        help = 'write an array of objects, or an object per line: {"item": "lamp", "minute": 1}'
        raise TidemillError(f"{name} cannot be read as JSON: {error}", help=help) from error
    if not all(isinstance(row, dict) for row in rows):
        raise TidemillError(f"{name} must be objects", help='as in {"item": "lamp", "minute": 1}')
    return list(rows)


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pl.DataFrame(rows, infer_schema_length=None).to_arrow()
