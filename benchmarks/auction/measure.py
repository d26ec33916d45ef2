"""What is measured: a query in a system, and what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.auction.worker import Reply, Spent

SAME = "same question"
PHASES = ("plan", "run", "load", "step", "save", "replayed")
"""The parts of Tidemill's ticks; all are seconds, but `replayed` is a number of ticks."""


@dataclass(frozen=True)
class Form:
    """How a system is asked a query: by what name, and what its question leaves out.

    `system` is what the tables show; one system may be asked in several ways.
    """

    system: str
    name: str
    question: str = SAME


@dataclass(frozen=True)
class Outcome:
    """A query in a system. Without `spent` there are no figures, and `missing` says why.

    A system that was stopped at the limit `gave_up`: it would have taken longer than `spent`.
    """

    query: str
    system: str
    question: str
    events: int = 0
    spent: Spent | None = None
    gave_up: bool = False
    missing: str = ""
    agrees: bool | None = None
    ticks: tuple[Mapping[str, float], ...] = ()
    state_rows: int = 0
    case: str = ""

    def with_reply(self, reply: Reply, events: int) -> Outcome:
        """With the figures of a run."""
        return replace(
            self,
            events=events,
            spent=reply.spent,
            gave_up=reply.over,
            ticks=tuple(reply.content.get("ticks", ())),
            state_rows=reply.content.get("state_rows", 0),
        )

    @property
    def events_per_second(self) -> float | None:
        """Without start-up; at most so many, if the system gave up."""
        return None if self.spent is None else self.events / self.spent.seconds

    @property
    def summary(self) -> str:
        """The figures in a few words.

        >>> Outcome("q1", "spark", SAME, 100, Spent(2.0), gave_up=True).summary
        'over 2 s (gave up), under 50 events/s'
        """
        if self.spent is None or self.events_per_second is None:
            return self.missing
        if self.gave_up:
            limit = f"over {self.spent.seconds:,.0f} s (gave up)"
            return f"{limit}, under {self.events_per_second:,.0f} events/s"
        return f"{self.spent.seconds:,.2f} s, {self.events_per_second:,.0f} events/s"

    @property
    def phases(self) -> dict[str, float]:
        """The seconds of all ticks by phase."""
        total: Counter[str] = Counter()
        for tick in self.ticks:
            total.update(tick)
        return dict(total)
