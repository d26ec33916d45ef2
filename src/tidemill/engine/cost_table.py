"""Estimates and measurements as a table of plain text, the plan on the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.usage import Usage
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.timeline import TimeDomain

_WIDEST = 60
"""Longer descriptions of operators are cut."""

_GROWS = 1e9
"""More rows than any machine keeps: they are only ever added."""

_PER_SECOND = 1_000_000  # instants of TIMESTAMP time


@dataclass(frozen=True)
class Line:
    """One part of a plan: what it was estimated to give and to need, what was measured, and how
    many rows it should have given for as much input."""

    depth: int
    label: str
    stream: Characteristics
    usage: Usage
    measured: OperatorProgress | None
    expected_rows: float


def table(lines: Sequence[Line], total: Usage, domain: TimeDomain, measured: bool) -> list[str]:
    """The lines of the table; the measured columns only if there is something in them.

    Rows out are estimated for as many rows as were read.
    """
    rate, work = ("rows/s", "CPU") if _is_clock(domain) else ("rows/instant", "µs/instant")
    head = ["", rate, "live rows", work, "state rows", "state"]
    rows = [
        [_name(number, line), *_estimates(line, domain)] for number, line in enumerate(lines, 1)
    ]
    rows.append(["all", "", "", *_usage(total, domain)])
    if not measured:
        return _aligned([head, *rows])
    head += ["rows out", "|", "rows out", "state rows", "state"]
    compared = [*map(_comparison, lines), ["", "|", "", "", ""]]
    rows = [[*row, *more] for row, more in zip(rows, compared, strict=True)]
    title = ["", "estimated", *[""] * 5, "|", "measured", "", ""]
    return _aligned([title, head, *rows])


def _name(number: int, line: Line) -> str:
    name = f"{number:02d} {'  ' * line.depth}{line.label}"
    return name if len(name) <= _WIDEST else name[: _WIDEST - 1] + "…"


def _estimates(line: Line, domain: TimeDomain) -> list[str]:
    per = _PER_SECOND if _is_clock(domain) else 1
    rows = [_number(line.stream.rate * per), _rows(line.stream.live_rows)]
    return [*rows, *_usage(line.usage, domain)]


def _usage(usage: Usage, domain: TimeDomain) -> list[str]:
    spent = usage.seconds * _PER_SECOND
    work = f"{spent:.2%}" if _is_clock(domain) else _number(spent)
    if usage.state_rows == 0:
        return [work, "", ""]
    grows = usage.state_rows > _GROWS
    return [work, _rows(usage.state_rows), "grows" if grows else _bytes(usage.state_bytes)]


def _comparison(line: Line) -> list[str]:
    seen = line.measured
    if seen is None:
        return [_rows(line.expected_rows), "|", "", "", ""]
    kept = [_rows(seen.most_rows), _bytes(seen.most_bytes)] if seen.most_bytes else ["", ""]
    return [_rows(line.expected_rows), "|", _rows(seen.rows_out), *kept]


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


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
