"""Validity intervals as a picture: a bar is the time in which a row holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pyarrow as pa
from rich.text import Text

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "red")
_SECOND = 1_000_000
_STEPS = [
    *(n * _SECOND for n in (1, 2, 5, 10, 20, 30)),
    *(n * 60 * _SECOND for n in (1, 2, 5, 10, 15, 20, 30)),
    *(n * 3600 * _SECOND for n in (1, 2, 3, 6, 12, 24, 48)),
]


@dataclass(frozen=True)
class Bar:
    """The time in which a row holds; without end if it stays."""

    start: int
    end: int | None
    text: str = ""


@dataclass
class Lane:
    """One line of the picture: bars that do not overlap."""

    label: str
    bars: list[Bar] = field(default_factory=list)

    def has_room(self, bar: Bar) -> bool:
        last = self.bars[-1].end if self.bars else bar.start
        return last is not None and last <= bar.start

    def add(self, bar: Bar) -> None:
        last = self.bars[-1] if self.bars else None
        if last is not None and last.end == bar.start and last.text == bar.text:
            self.bars[-1] = Bar(last.start, bar.end, bar.text)
        else:
            self.bars.append(bar)


@dataclass(frozen=True)
class Axis:
    """A span of time drawn on a number of columns; times are microseconds or plain ticks."""

    start: int
    end: int
    width: int
    is_clock: bool = True

    def column(self, instant: int) -> int:
        return round((instant - self.start) * (self.width - 1) / max(1, self.end - self.start))

    def ticks(self) -> list[int]:
        """Round instants, far enough apart for their labels."""
        first = -(-self.start // self.step) * self.step
        return list(range(first, self.end + 1, self.step))

    @property
    def step(self) -> int:
        steps = _STEPS if self.is_clock else [n * 10**e for e in range(18) for n in (1, 2, 5)]
        room = (self.end - self.start) * 10 // self.width
        return next((step for step in steps if step >= room), max(1, self.end - self.start))

    def label(self, instant: int) -> str:
        if not self.is_clock:
            return str(instant)
        time = datetime.fromtimestamp(instant / _SECOND, UTC)
        return time.strftime("%H:%M" if self.step % (60 * _SECOND) == 0 else "%H:%M:%S")


def lanes_of(
    table: pa.Table, label: str | None, texts: Sequence[str], default: str = ""
) -> list[Lane]:
    """The rows of a result as lanes, one for each value of `label`, more where rows overlap.

    Rows must come in the order of their start. What touches and says the same is one bar.
    """
    lanes: list[Lane] = []
    start, end = (table.column(n).cast(pa.int64()).to_pylist() for n in ("valid_from", "valid_to"))
    for row, since, until in zip(table.to_pylist(), start, end, strict=True):
        bar = Bar(since, until, " ".join(_short(row[name]) for name in texts))
        name = default if label is None else str(row[label])
        alike = (lane for lane in lanes if lane.label == name and lane.has_room(bar))
        lane = next(alike, None)
        if lane is None:
            lanes.append(lane := Lane(name))
        lane.add(bar)
    return lanes


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def picture(lanes: Iterable[Lane], axis: Axis, title: str = "") -> Text:
    """Draw lanes over an axis.

    >>> lane = Lane("lamp", [Bar(0, 10, "1"), Bar(10, 18, "2")])
    >>> print(picture([lane], Axis(0, 20, 21, is_clock=False)))
    lamp  [━━━━1━━━━[━━━2━━━)
          ┼─────────┼─────────┼
          0         10        20
    """
    lanes = list(lanes)
    margin = max([len(title), *(len(lane.label) for lane in lanes)]) + 2
    lines = [_lane(lane, axis, number) for number, lane in enumerate(lanes)]
    labels = [Text(lane.label.ljust(margin), style="bold") for lane in lanes]
    drawn = [Text.assemble(label, line) for label, line in zip(labels, lines, strict=True)]
    drawn += _scale(axis, title.ljust(margin))
    for line in drawn:
        line.rstrip()
    return Text("\n").join(drawn)


def _scale(axis: Axis, title: str) -> list[Text]:
    rule, labels = ["─"] * axis.width, [" "] * (axis.width + 8)
    for instant in axis.ticks():
        column = axis.column(instant)
        rule[column] = "┼"
        text = axis.label(instant)
        labels[column : column + len(text)] = text
    return [
        Text.assemble((title, "dim"), ("".join(rule), "dim")),
        Text.assemble(" " * len(title), ("".join(labels), "dim")),
    ]


def _lane(lane: Lane, axis: Axis, number: int) -> Text:
    cells = [" "] * axis.width
    for bar in lane.bars:
        if bar.start <= axis.end and (bar.end is None or bar.end > axis.start):
            _draw(bar, axis, cells)
    return Text("".join(cells), style=_COLOURS[number % len(_COLOURS)])


def _draw(bar: Bar, axis: Axis, cells: list[str]) -> None:
    """A bar like the interval it stands for: [ is part of it, ) is not; cut ends have neither."""
    first = max(0, axis.column(bar.start))
    goes_on = bar.end is None or bar.end > axis.end
    last = axis.width - 1 if goes_on or bar.end is None else axis.column(bar.end)
    if bar.end == bar.start + 1 or first == last:
        cells[first] = "●" if bar.end == bar.start + 1 else "["
        last = first
    else:
        cells[first:last] = "━" * (last - first)
        cells[first] = "[" if bar.start >= axis.start else "╺"
        cells[last] = "→" if goes_on else ")"
    _write(bar, first, last, cells)


def _write(bar: Bar, first: int, last: int, cells: list[str]) -> None:
    """The text of a bar: inside, if there is room; beside an instant."""
    inside = last - first - 1
    if first == last and cells[first] == "●":
        free = cells[first + 1 : first + 2 + len(bar.text)]
        if len(free) > len(bar.text) and not any(map(str.strip, free)):
            cells[first + 2 : first + 2 + len(bar.text)] = bar.text
    elif 0 < len(bar.text) <= inside:
        at = first + 1 + (inside - len(bar.text)) // 2
        cells[at : at + len(bar.text)] = bar.text
