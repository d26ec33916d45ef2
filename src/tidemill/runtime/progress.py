"""How far a run of a query has come, whatever the runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidemill.optimize.statistics import Statistics
from tidemill.runtime.operator_progress import OperatorProgress


@dataclass(frozen=True)
class SourceProgress:
    """What was read of a source; late rows were kept out."""

    rows: int
    late_rows: int
    watermark: int | None


@dataclass(frozen=True)
class RelationProgress(SourceProgress):
    """What was read of a relation that changes.

    Besides: how many rows are there now (`held`), how many changes came, and how many of these
    were deletions of rows that were not there (`missing`).
    """

    held: int
    changes: int = 0
    missing: int = 0

    @property
    def warning(self) -> str | None:
        """What does not look right.

        >>> RelationProgress(rows=9, late_rows=0, watermark=7, held=3, changes=6, missing=1).warning
        'rows were deleted that were not there: 1 of 6 changes had no effect'
        """
        if not self.missing:
            return None
        share = f"{self.missing} of {self.changes} changes had no effect"
        return f"rows were deleted that were not there: {share}"


@dataclass(frozen=True)
class ShedProgress:
    """What star joins with a bound have given, and what that bound cost.

    `rows` had to go before their end, or were not let in. Rows that match nothing in the relation
    were `filtered`: they are no loss. What is lost is estimated from some of the rows that were
    shed, which are followed for as long as they would have been kept.
    """

    rows: int = 0
    filtered: int = 0
    results_given: int = 0
    importance_given: float = 0.0
    results_lost_estimate: float = 0.0
    importance_lost_estimate: float = 0.0


@dataclass(frozen=True)
class RankingProgress:
    """What rankings of objects keep, and what they could do without.

    The window has `window_rows` now, of which `rows` are kept, for the `instances` of objects
    that can still be among the first; `evicted` is how many could not, so far. Where answers are
    approximate, `precision` estimates from some objects, which are followed exactly, how much of
    them is right; it is None where nothing was looked at.
    """

    window_rows: int = 0
    rows: int = 0
    instances: int = 0
    evicted: int = 0
    precision: float | None = None


@dataclass(frozen=True)
class MigrationProgress:
    """A query on its way to another plan: the instant from which on that one answers, instants
    until then, and rows that only the old plan keeps."""

    split: int
    time: int
    old_rows: int


@dataclass(frozen=True)
class Progress:
    """How far a run of a query has come.

    `phases` are the seconds that the last tick spent on each part of its work, `seconds` is the
    time from the start of the run to the end of the last tick. `statistics` are what the run has
    found out about its sources, and about conditions under the names of the sources. `sizes` are
    those of windows and granules that can be changed: from which instant on rows have which. The
    answer is exact for these. `migration` tells of a change of plan that goes on.
    """

    ticks: int = 0
    rows_out: int = 0
    sources: Mapping[str, SourceProgress] = field(default_factory=dict)
    operators: tuple[OperatorProgress, ...] = ()
    phases: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    statistics: Statistics = field(default_factory=Statistics)
    sizes: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    migration: MigrationProgress | None = None

    @property
    def rows_in(self) -> int:
        return sum(source.rows for source in self.sources.values())

    @property
    def rows_per_second(self) -> float:
        """Rows read, by the time since the start."""
        return self.rows_in / self.seconds if self.seconds else 0.0

    @property
    def late_rows(self) -> int:
        return sum(source.late_rows for source in self.sources.values())

    @property
    def ranking(self) -> RankingProgress:
        """What rankings keep.

        >>> kept = {"ranking_rows": 3.0, "ranking_window_rows": 9.0}
        >>> Progress(operators=(OperatorProgress("RankExec", measures=kept),)).ranking.rows
        3
        """
        checked = self._measured("ranking_checked")
        missed = self._measured("ranking_missed_estimate")
        return RankingProgress(
            int(self._measured("ranking_window_rows")),
            int(self._measured("ranking_rows")),
            int(self._measured("ranking_instances")),
            int(self._measured("ranking_evicted")),
            max(0.0, 1 - missed / checked) if checked else None,
        )

    @property
    def shed(self) -> ShedProgress:
        """What was left out to stay within bounds of memory.

        >>> lossy = OperatorProgress("StarJoinExec", measures={"rows_shed": 7.0})
        >>> Progress(operators=(lossy,)).shed.rows
        7
        """

        total = self._measured
        return ShedProgress(
            int(total("rows_shed")),
            int(total("rows_filtered")),
            int(total("results_given")),
            total("importance_given"),
            total("results_lost_estimate"),
            total("importance_lost_estimate"),
        )

    def _measured(self, name: str) -> float:
        return sum(operator.measures.get(name, 0.0) for operator in self.operators)
