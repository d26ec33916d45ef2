"""What is known about streams: measured while queries run, or told by the user.

Statistics change how fast an answer comes, never the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import Plan
from tidemill.catalog import Hints
from tidemill.optimize.conditions import localized


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

    def over(self, other: StreamStatistics) -> StreamStatistics:
        """What is known here, and elsewhere where nothing is known here."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {name: value for name, value in known.items() if value is not None}
        return replace(other, **{**known, "distinct": {**other.distinct, **self.distinct}})


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

    def over(self, other: Statistics) -> Statistics:
        """What is known here, and elsewhere where nothing is known here.

        >>> told = Statistics({"bid": StreamStatistics(rate=10)})
        >>> told.over(Statistics({"bid": StreamStatistics(rate=7, rows=3)})).of("bid")
        StreamStatistics(rate=10, length=None, granularity=None, rows=3, distinct={})
        """
        streams = {**other.streams, **self.streams}
        for name in other.streams.keys() & self.streams.keys():
            streams[name] = self.of(name).over(other.of(name))
        return Statistics(streams, {**other.selectivities, **self.selectivities})

    def only(self, sources: Iterable[str]) -> Statistics:
        """What is known about some sources."""
        return Statistics({name: self.streams[name] for name in sources if name in self.streams})

    def moved(self, now: Statistics, threshold: float) -> frozenset[str]:
        """The streams whose rate has changed by more than a factor, up or down.

        One whose rate has become known counts: nothing was planned for it.

        >>> slow, fast = StreamStatistics(rate=3), StreamStatistics(rate=10)
        >>> planned = Statistics({"bid": fast, "ask": slow})
        >>> now = Statistics({"bid": slow, "ask": StreamStatistics(rate=5)})
        >>> sorted(planned.moved(now, 2))
        ['bid']
        """
        rates = {name: stream.rate for name, stream in now.streams.items()}
        return frozenset(
            name
            for name, rate in rates.items()
            if rate is not None and _far(self.of(name).rate, rate, threshold)
        )

    def for_plan(self, plan: Plan, hints: Hints) -> Statistics:
        """What is known here under the names of sources, for a plan and its aliases.

        Hints of the query itself win.
        """
        scans = [node for node in plan.walk() if isinstance(node, Scan)]
        shares = {**localized(self.selectivities, scans), **hints.selectivities}
        streams = _told(hints).over(self).streams
        read = {scan.source for scan in scans}
        return Statistics({name: streams[name] for name in read & streams.keys()}, shares)


def _far(before: float | None, now: float, threshold: float) -> bool:
    if before is None:
        return True
    low, high = sorted((before, now))
    return high > threshold * low


def _told(hints: Hints) -> Statistics:
    names = {*hints.rates, *hints.rows, *(source for source, _ in hints.distinct)}
    return Statistics(
        {
            name: StreamStatistics(
                rate=hints.rates.get(name),
                rows=hints.rows.get(name),
                distinct={c: n for (source, c), n in hints.distinct.items() if source == name},
            )
            for name in names
        }
    )
