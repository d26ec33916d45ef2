"""What a task does first: read the wanted columns of a slice in the declared types."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.columns import Unreadable, as_declared
from tidemill.connectors.feeds.csv_files import read_csv
from tidemill.connectors.feeds.formats import read_arrow, read_orc, read_parquet, read_stored
from tidemill.connectors.feeds.json_files import read_json
from tidemill.connectors.feeds.opening import confined
from tidemill.connectors.feeds.options import refusal
from tidemill.connectors.feeds.slices import STORED, FileSlice, Slice, TableSlice, TopicSlice
from tidemill.errors import ExecutionError

_TYPED = {"arrow": read_arrow, "parquet": read_parquet, "orc": read_orc, STORED: read_stored}
_TEXTS = {"csv": read_csv, "json": read_json}


def read_slice(slice: Slice, declared: Schema, columns: Sequence[str], name: str) -> pa.Table:
    """The wanted columns of a slice of the source `name`, in their declared types.

    >>> table = pa.table({"item": ["lamp"], "price": pa.array([3], pa.int32())})
    >>> schema = Schema.of(price=pa.int64(), item=pa.string())
    >>> read_slice(TableSlice(table), schema, ["price"], "bid").to_pylist()
    [{'price': 3}]
    """
    if isinstance(slice, TableSlice):
        return _read_table(slice, declared, columns, name)
    if isinstance(slice, TopicSlice):
        return _read_topic(slice, declared, columns, name)
    try:
        with confined(slice.within):
            return _read(slice, declared, columns)
    except (Unreadable, pa.ArrowException, OSError) as error:
        file = slice.path.rstrip("/").rsplit("/", 1)[-1]
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ExecutionError(
            f"cannot read {file} of `{name}` as {slice.format}: {reason}",
            help=f"the declared columns are: {declared}",
        ) from error


def _read_table(slice: TableSlice, declared: Schema, columns: Sequence[str], name: str) -> pa.Table:
    try:
        return as_declared(slice.table, declared, columns)
    except (Unreadable, pa.ArrowException) as error:
        help = f"the declared columns are: {declared}"
        raise ExecutionError(f"cannot read a table of `{name}`: {error}", help=help) from error


def _read_topic(slice: TopicSlice, declared: Schema, columns: Sequence[str], name: str) -> pa.Table:
    try:  # not every machine has Kafka's client
        from tidemill.connectors.kafka import read_topic
    except ModuleNotFoundError as error:
        help = "pip install 'tidemill[kafka]', on all machines that read"
        raise ExecutionError(f"Kafka needs the package {error.name}", help=help) from None
    try:
        return read_topic(slice, declared, columns, name)
    except (Unreadable, pa.ArrowException) as error:
        help = f"the declared columns are: {declared}"
        raise ExecutionError(f"cannot read a message of `{name}`: {error}", help=help) from error


def _read(slice: FileSlice, declared: Schema, columns: Sequence[str]) -> pa.Table:
    format = slice.format.lower()
    if format != STORED and (reason := refusal(format, dict(slice.options))) is not None:
        raise Unreadable(reason)
    if format in _TEXTS:
        return _TEXTS[format](slice, declared, columns)
    return as_declared(_TYPED[format](slice, columns), declared, columns)
