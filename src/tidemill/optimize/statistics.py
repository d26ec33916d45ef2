"""What is known about streams: measured while queries run, or told by the user.

Statistics change how fast an answer comes, never the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class StreamStatistics:
    """One source. None: not known.

    `rate` is rows per instant of the stream's time, `length` how long rows hold on average
    (relations with validity; a row of a stream holds for one instant), `rows` the size of a
    relation, `distinct` the number of distinct values by column.
    """

    rate: float | None = None
    length: float | None = None
    granularity: int | None = None
    rows: float | None = None
    distinct: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Statistics:
    """What is known about all sources, and about conditions.

    `selectivities` maps the text of a condition (as plans print it) to the share of rows that
    pass; for a condition on two inputs, the share of pairs.

    >>> known = Statistics({"bid": StreamStatistics(rate=10, distinct={"item": 500})})
    >>> known.of("bid").rate, known.of("person").rate
    (10, None)
    """

    streams: Mapping[str, StreamStatistics] = field(default_factory=dict)
    selectivities: Mapping[str, float] = field(default_factory=dict)

    def of(self, source: str) -> StreamStatistics:
        """The statistics of a source; of an unknown one, none."""
        return self.streams.get(source, StreamStatistics())
