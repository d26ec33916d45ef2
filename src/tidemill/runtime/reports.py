"""What tasks have to tell the driver when they are done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemill.errors import ExecutionError, TidemillError
from tidemill.runtime.clock import Seen
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.statistics.sources import SourceSample

News = Mapping[int, Mapping[int, bytes]]
"""What the operators of a stage have told: by number of the operator, then by partition."""


@dataclass(frozen=True)
class TaskFailure:
    """Why something went wrong, in a form that can be sent to other processes."""

    message: str
    help: str | None = None

    @staticmethod
    def of(error: BaseException) -> TaskFailure:
        """What an error says, in one line."""
        if isinstance(error, TidemillError):
            return TaskFailure(error.message, error.help)
        return TaskFailure(f"{type(error).__name__}: {error}")

    @property
    def error(self) -> ExecutionError:
        """The error that the user gets."""
        return ExecutionError(self.message, help=self.help)


@dataclass
class TaskReport:
    """One task: its level, its partition (or number), and what it has done.

    `operators` are in the order of the parts of its plans; those of level 0 count this tick only.
    `failures` are by exchange (tag), `rows`, `written` and `unwritten` by query: rows for sinks
    that tasks write themselves, the names of files, and why they could not be written. `told` is
    for the same operators in other partitions. What was `found` out is by source.
    """

    level: int
    part: int
    operators: Sequence[OperatorProgress] = ()
    failures: dict[int, TaskFailure] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    unwritten: dict[str, TaskFailure] = field(default_factory=dict)
    told: Mapping[int, bytes] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    replayed: int = 0
    sights: dict[str, Seen] = field(default_factory=dict)
    found: list[tuple[str, SourceSample]] = field(default_factory=list)


def gathered(reports: Iterable[TaskReport], level: int) -> News:
    """What all partitions of a stage have told in a tick.

    >>> gathered([TaskReport(1, part, told={3: b"new"}) for part in range(2)], level=1)
    {3: {0: b'new', 1: b'new'}}
    """
    news: dict[int, dict[int, bytes]] = {}
    for report in reports:
        if report.level == level:
            for number, data in report.told.items():
                news.setdefault(number, {})[report.part] = data
    return news


def level_totals(reports: Iterable[TaskReport]) -> dict[int, list[OperatorProgress]]:
    """What the operators of each stage have done, in all partitions."""
    by_level: dict[int, list[TaskReport]] = {}
    for report in reports:
        if report.level:
            by_level.setdefault(report.level, []).append(report)
    return {level: _merged(found) for level, found in by_level.items()}


def _merged(reports: Sequence[TaskReport]) -> list[OperatorProgress]:
    if len(reports) == 1:
        return list(reports[0].operators)
    totals = [progress.copy() for progress in reports[0].operators]
    for report in reports[1:]:
        for total, progress in zip(totals, report.operators, strict=True):
            total.merge(progress)
    return totals
