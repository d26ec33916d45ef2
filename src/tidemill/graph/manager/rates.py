"""How fast streams come, as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp

RECENT_ROWS = 60
"""Older rows fade as so many come: then chance moves a rate by nine percent."""


@dataclass
class _Rate:
    """Rows and instants, of which the older ones fade as rows come."""

    rows: float = 0.0
    instants: float = 0.0

    def add(self, rows: int, instants: int) -> None:
        kept = exp(-rows / RECENT_ROWS)
        self.rows = self.rows * kept + rows
        self.instants = self.instants * kept + instants


class Rates:
    """Online averages of the rates of streams, in rows per instant.

    >>> rates = Rates()
    >>> for tick in range(11):
    ...     rates.look({"bid": 30 * tick}, now=100 * tick)
    >>> rates.of("bid")
    0.3
    """

    def __init__(self) -> None:
        self._rates: dict[str, _Rate] = {}
        self._seen: dict[str, int] = {}
        self._now: int | None = None

    def look(self, rows: Mapping[str, int], now: int) -> None:
        """Take note of how many rows of every stream were read, up to an instant."""
        if self._now is not None:
            for name, count in rows.items():
                new = count - self._seen.get(name, count)
                self._rates.setdefault(name, _Rate()).add(new, now - self._now)
        self._now, self._seen = now, dict(rows)

    def expect(self, streams: Iterable[str]) -> None:
        """Streams of which nothing was read yet are going to be."""
        for name in streams:
            self._seen.setdefault(name, 0)

    def of(self, stream: str) -> float | None:
        """Rows per instant; None if nothing has come yet."""
        rate = self._rates.get(stream)
        return rate.rows / rate.instants if rate and rate.rows and rate.instants else None

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that were looked at, or are expected."""
        return tuple(self._seen)
