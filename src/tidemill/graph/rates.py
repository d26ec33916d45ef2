"""What streams bring now, which may be something else than what they brought so far."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.runtime.progress import SourceProgress


class RecentRates:
    """Rows per instant of streams, between two looks at them.

    >>> rates = RecentRates()
    >>> rates.look({"bid": SourceProgress(100, 0, 10)})
    >>> rates.look({"bid": SourceProgress(160, 0, 30)})
    >>> rates.statistics.of("bid").rate
    3.0
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}
        self._rates: dict[str, float] = {}

    def look(self, sources: Mapping[str, SourceProgress]) -> None:
        """Take note of what came since the last look; of streams that stood still, nothing."""
        for name, source in sources.items():
            if source.watermark is None:
                continue
            rows, mark = self._last.get(name, (0, source.watermark))
            if source.watermark > mark:
                self._rates[name] = (source.rows - rows) / (source.watermark - mark)
            if source.watermark > mark or name not in self._last:
                self._last[name] = (source.rows, source.watermark)

    @property
    def statistics(self) -> Statistics:
        """The rates, for the planner."""
        streams = {name: StreamStatistics(rate=rate) for name, rate in self._rates.items() if rate}
        return Statistics(streams)
