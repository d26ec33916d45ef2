"""Files with a JSON object in each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.json_objects import all_at_once, decoded, one_by_one
from tidemill.connectors.feeds.slices import FileSlice
from tidemill.connectors.feeds.texts import text_of


def read_json(slice: FileSlice, declared: Schema, columns: Sequence[str]) -> pa.Table:
    """The wanted columns; what an object does not have is NULL."""
    text = text_of(slice.path)
    wanted = declared.select(columns)
    found = all_at_once(text, wanted)
    return one_by_one(_objects(text.decode()), wanted) if found is None else found


def _objects(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of all lines with their places; a line may be a list of objects."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t"):
            continue
        value = decoded(line, f"line {number}")
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise Unreadable(f"line {number} is no object")
            yield f"line {number}", each
