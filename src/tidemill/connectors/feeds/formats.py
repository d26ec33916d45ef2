"""Files that have types: Arrow, Parquet and ORC."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from tidemill.connectors.feeds.columns import place_of
from tidemill.connectors.feeds.opening import is_local, opened, opened_stored
from tidemill.connectors.feeds.slices import FileSlice


def read_arrow(slice: FileSlice, columns: Sequence[str]) -> pa.Table:
    """Columns of a file of Arrow; of one on this machine, nothing is copied."""
    file = opened(slice.path)  # what is mapped has to stay open as long as the table
    reader = pa.ipc.open_file(file)
    places = sorted(place_of(column, reader.schema.names) for column in columns)
    if not is_local(slice.path):
        # What is mapped is not read before it is used; and Arrow copies when it is to leave
        # fields out. No fields at all would mean all of them.
        options = pa.ipc.IpcReadOptions(included_fields=places or [0], use_threads=False)
        reader, places = pa.ipc.open_file(file, options=options), list(range(len(places)))
    batches = [reader.get_batch(number) for number in _range(slice, reader.num_record_batches)]
    schema = batches[0].schema if batches else reader.schema
    return pa.Table.from_batches(batches, schema).select(places)


def read_stored(slice: FileSlice, columns: Sequence[str]) -> pa.Table:
    """Columns of a file of a store."""
    reader = pa.ipc.open_file(opened_stored(slice.path))
    batches = [reader.get_batch(number) for number in _range(slice, reader.num_record_batches)]
    places = sorted(place_of(column, reader.schema.names) for column in columns)
    return pa.Table.from_batches(batches, reader.schema).select(places)


def read_parquet(slice: FileSlice, columns: Sequence[str]) -> pa.Table:
    """Columns of a file of Parquet."""
    with opened(slice.path) as source:
        # Times in 96 bits are of Spark and others before them: microseconds are enough for them.
        file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
        names = file.schema_arrow.names
        wanted = [names[place_of(column, names)] for column in columns]
        numbers = list(_range(slice, file.num_row_groups))
        return file.read_row_groups(numbers, columns=wanted, use_threads=False)


def read_orc(slice: FileSlice, columns: Sequence[str]) -> pa.Table:
    """Columns of a file of ORC."""
    from pyarrow import orc

    with opened(slice.path) as source:
        file = orc.ORCFile(source)
        names = file.schema.names
        if not columns:  # the rows count all the same
            return file.read(columns=names[:1])
        return file.read(columns=[names[place_of(column, names)] for column in columns])


def _range(slice: FileSlice, count: int) -> range:
    last = count - 1 if slice.last is None else slice.last
    return range(slice.first or 0, last + 1)
