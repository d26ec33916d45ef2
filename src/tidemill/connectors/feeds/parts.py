"""The parts of a file that can be read by themselves: row groups and record batches."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from tidemill.connectors.feeds.opening import is_local, opened, opened_stored
from tidemill.errors import DamageError

Part = tuple[int, int]
"""Rows and bytes."""


def parts_of(format: str, path: str, first: int | None, last: int | None) -> list[Part]:
    """Rows and bytes of the parts from `first` to `last`; none if the format has no parts.

    What cannot be read has no parts either: whoever reads it says why.
    """
    reads = {"parquet": _row_groups, "arrow": _batches, "stored": _batches}
    if format not in reads:
        return []
    try:
        with opened_stored(path) if format == "stored" else opened(path) as file:
            parts = reads[format](file, path)
    except (pa.ArrowException, OSError, DamageError):
        return []
    return parts[first or 0 : None if last is None else last + 1]


def _row_groups(file: pa.NativeFile, path: str) -> list[Part]:
    footer = pq.read_metadata(file)
    groups = (footer.row_group(number) for number in range(footer.num_row_groups))
    # What is on disk counts: the sizes of other files, too, are those on disk.
    return [(group.num_rows, _on_disk(group)) for group in groups]


def _on_disk(group: pq.RowGroupMetaData) -> int:
    columns = (group.column(number) for number in range(group.num_columns))
    return sum(column.total_compressed_size for column in columns)


def _batches(file: pa.NativeFile, path: str) -> list[Part]:
    reader = pa.ipc.open_file(file)
    if is_local(path):  # mapped into memory: only what describes a batch is read
        batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        return [(batch.num_rows, batch.nbytes) for batch in batches]
    count = reader.num_record_batches
    rows, size = reader.count_rows(), file.size()
    # As if all were alike; the remainder goes to the last.
    return [
        (rows * (n + 1) // count - rows * n // count, size * (n + 1) // count - size * n // count)
        for n in range(count)
    ]


def count_rows(path: str) -> int:
    """The rows of a file of a store."""
    return int(pa.ipc.open_file(opened_stored(path)).count_rows())
