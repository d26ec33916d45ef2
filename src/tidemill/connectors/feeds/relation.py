"""All rows of a relation at once, from files."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds.files import FilesFeed, path_of
from tidemill.connectors.feeds.reading import read_slice
from tidemill.connectors.feeds.slices import Slice


def relation_slices(info: SourceInfo, within: tuple[str, ...] = ()) -> list[Slice]:
    """All files of a relation that are there now."""
    feed = FilesFeed(
        info.name, str(info.format), path_of(info), info.options, bounded=True, within=within
    )
    return feed.slices(0, feed.poll())


def relation_table(
    info: SourceInfo, columns: Sequence[str] | None = None, within: tuple[str, ...] = ()
) -> pa.Table:
    """The rows of all files of a relation, which is constant or knows its validity."""
    wanted = info.declared.names if columns is None else columns
    slices = relation_slices(info, within)
    return pa.concat_tables(
        [read_slice(slice, info.declared, wanted, info.name) for slice in slices]
    )
