"""Sources read tick by tick, for tests that feed operators by hand."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tidemill.algebra import Scan
from tidemill.connectors.feeds import MOST_BYTES, TableSlice, read_slice
from tidemill.physical.operator import empty_batch
from tidemill.runtime.clock import SourceClock
from tidemill.runtime.sources import OpenStream, RelationSource, Source, StreamSource
from tidemill.runtime.validity import TimedRows, Timing
from tidemill.timeline import BEGIN, OPEN_END


class TickReader:
    """What sources bring with every tick, and the watermarks after it."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._streams = {
            name: OpenStream.opened(source, bounded=True)
            for name, source in sources.items()
            if isinstance(source, StreamSource)
        }
        self.marks = dict.fromkeys(sources, BEGIN)
        self._rows: dict[str, TimedRows] = {}

    def is_ended(self, scan: Scan) -> bool:
        return self.marks[scan.source] == OPEN_END

    def tick(self) -> None:
        self._rows = {name: self._read(name) for name in self._sources}

    def batch(self, scan: Scan) -> pl.DataFrame:
        """The new rows of a leaf."""
        rows = self._rows.get(scan.source)
        return empty_batch(scan.schema) if rows is None else rows.scanned(scan)

    def _read(self, name: str) -> TimedRows:
        source = self._sources[name]
        timing = Timing.of(source.info)
        if isinstance(source, RelationSource):
            slices = source.read() if self.marks[name] == BEGIN else []
            self.marks[name] = OPEN_END
        else:
            stream = self._streams[name]
            slices = stream.source.feed.slices(stream.position, stream.stop(MOST_BYTES))
        table = timing.columns.to_arrow().empty_table()
        for each in slices:
            assert isinstance(each, TableSlice)
            table = read_slice(each, timing.columns, timing.columns.names, name)
        rows = timing.rows(table, arrived=0)
        return self._in_time(name, rows) if name in self._streams else rows

    def _in_time(self, name: str, rows: TimedRows) -> TimedRows:
        stream = self._streams[name]
        mark, ahead = stream.clock.mark, stream.source.info.ahead
        until = OPEN_END if ahead is None or mark == BEGIN else mark + ahead
        kept = rows.where((rows.start >= mark) & (rows.start <= until))
        stream.position = stream.stop(MOST_BYTES)
        newest = int(kept.start.max()) if len(kept) else stream.clock.newest
        mark = max(mark, newest - stream.clock.slack)
        ended = stream.position == stream.ends_at
        stream.clock = SourceClock(slack=stream.clock.slack, mark=mark, newest=newest)
        self.marks[name] = OPEN_END if ended else mark
        return kept
