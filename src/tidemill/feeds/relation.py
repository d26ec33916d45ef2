"""All rows of a relation at once, from files."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.analyze import SourceInfo
from tidemill.feeds.files import FilesFeed, path_of
from tidemill.feeds.reading import read_slice


def relation_table(info: SourceInfo, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of all files of a relation, which is constant or knows its validity."""
    feed = FilesFeed(info.name, str(info.format), path_of(info), info.options, bounded=True)
    wanted = info.declared.names if columns is None else columns
    return _together(feed, info.declared, wanted)


def _together(feed: FilesFeed, declared: Schema, columns: Sequence[str]) -> pa.Table:
    slices = feed.slices(0, feed.poll())
    tables = [read_slice(slice, declared, columns, feed.name) for slice in slices]
    return pa.concat_tables(tables)
