"""Estimates and measurements as cells beside the lines of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemill.explain import PlanLine
from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.usage import Usage
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.timeline import TimeDomain

_GROWS = 1e9
"""More rows than any machine keeps: they are only ever added."""

_PER_SECOND = 1_000_000  # instants of TIMESTAMP time


@dataclass(frozen=True)
class PartCost:
    """One part of a plan: what it was estimated to give and to need, what was measured, and how
    many rows it should have given for as much input."""

    line: PlanLine
    stream: Characteristics
    usage: Usage
    measured: OperatorProgress | None
    expected_rows: float


def table(
    parts: Sequence[PartCost], total: Usage, domain: TimeDomain, measured: bool
) -> list[PlanLine]:
    """The lines of the table; the measured columns only if there is something in them.

    Rows out are estimated for as many rows as were read.
    """
    rate, work = ("rows/s", "CPU") if _is_clock(domain) else ("rows/instant", "µs/instant")
    head = [rate, "live rows", work, "state rows", "state"]
    cells = [_estimates(part, domain) for part in parts]
    last = ["", "", *_usage(total, domain)]
    titles = [head]
    if measured:
        titles = [["estimated", *[""] * 5, "|", "measured", "", ""], head]
        head += ["rows out", "|", "rows out", "state rows", "state"]
        cells = [[*row, *_comparison(part)] for row, part in zip(cells, parts, strict=True)]
        last += ["", "|", "", "", ""]
    return [
        *(PlanLine("", cells=tuple(title)) for title in titles),
        *(replace(p.line, cells=tuple(row)) for p, row in zip(parts, cells, strict=True)),
        PlanLine("all", cells=tuple(last)),
    ]


def _estimates(part: PartCost, domain: TimeDomain) -> list[str]:
    per = _PER_SECOND if _is_clock(domain) else 1
    rows = [_number(part.stream.rate * per), _rows(part.stream.live_rows)]
    return [*rows, *_usage(part.usage, domain)]


def _usage(usage: Usage, domain: TimeDomain) -> list[str]:
    spent = usage.seconds * _PER_SECOND
    work = f"{spent:.2%}" if _is_clock(domain) else _number(spent)
    if usage.state_rows == 0:
        return [work, "", ""]
    grows = usage.state_rows > _GROWS
    return [work, _rows(usage.state_rows), "grows" if grows else _bytes(usage.state_bytes)]


def _comparison(part: PartCost) -> list[str]:
    seen = part.measured
    if seen is None:
        return [_rows(part.expected_rows), "|", "", "", ""]
    kept = [_rows(seen.most_rows), _bytes(seen.most_bytes)] if seen.most_bytes else ["", ""]
    return [_rows(part.expected_rows), "|", _rows(seen.rows_out), *kept]


def _is_clock(domain: TimeDomain) -> bool:
    return domain is TimeDomain.MICROSECONDS


def _rows(number: float) -> str:
    return "grows" if number > _GROWS else _number(number)


def _number(number: float) -> str:
    """Whole numbers, or two digits of small ones.

    >>> _number(1234.5), _number(0.01234), _number(3.2), _number(0.0)
    ('1,234', '0.012', '3.2', '0')
    """
    if number >= 10 or number == 0:
        return f"{number:,.0f}"
    return f"{number:.2g}"


def _bytes(number: float) -> str:
    """
    >>> _bytes(512), _bytes(20_000), _bytes(3_400_000_000)
    ('512 B', '20 kB', '3.4 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{_number(number)} {unit}"
