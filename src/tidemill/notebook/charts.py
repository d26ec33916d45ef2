"""Charts of answers as SVG: drawn here, so that notebooks need no package and no script for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyarrow as pa

from tidemill.notebook.axes import ChartAxis, marks, number_label, round_step, time_marks
from tidemill.notebook.html import framed
from tidemill.notebook.steps import MOST_ROWS, ChartBar, Picture, Series, chosen, picture_of

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 260, 76, 16, 14, 28
_LINE = 18
_LETTER = 6.6
_LONGEST_KEY = 40
_FEW_BARS = 90
# They can be told from each other, and from the page, on white and on black.
_COLOURS = (
    "#3b82c4",
    "#d9772b",
    "#2f9e6e",
    "#c2528b",
    "#8b6fd1",
    "#a8861a",
    "#3a9ea5",
    "#cc4b4b",
)


@dataclass(frozen=True)
class Chart:
    """A chart: a notebook shows it, and it can be saved as a file."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the chart to a file, such as `chart.svg`."""
        Path(path).write_text(self.svg, "utf-8")

    def _repr_html_(self) -> str:
        return framed(self.svg)


def step_chart(
    table: pa.Table, column: str | None, by: Sequence[str] | str | None, top: int
) -> Chart:
    """A column of an answer over time, a line for each key; see `Query.plot`."""
    picture = picture_of(table, chosen(table.schema, column, by), top)
    return Chart(drawn(picture))


def drawn(picture: Picture) -> str:
    """The chart as SVG."""
    legend = list(_legend(picture))
    below = _TOP + _HEIGHT + _BOTTOM
    height = below + _LINE * len(legend) + 6
    parts = [*_plot(picture), *(_moved(line, below + _LINE * n) for n, line in enumerate(legend))]
    title = escape(_title(picture))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" '
        f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'style="max-width: 100%; height: auto" font-family="sans-serif" font-size="12" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def _title(picture: Picture) -> str:
    by = f" by {', '.join(picture.choice.by)}" if picture.choice.by else ""
    return f"{picture.choice.height or 'rows'}{by}"


def _plot(picture: Picture) -> Iterator[str]:
    """The grid, and the bars over it."""
    bars = [bar for series in picture.series for bar in series.bars]
    if not bars:
        yield _text(_WIDTH / 2, _TOP + _HEIGHT / 2, "nothing to draw: no rows", "middle")
        return
    time, heights = _time_axis(bars), _height_axis(picture, bars)
    yield from _time_marks(time, picture.is_clock)
    yield from _height_marks(heights, picture)
    few = len(bars) <= _FEW_BARS
    for number, series in enumerate(picture.series):
        yield _line(series, _COLOURS[number % len(_COLOURS)], time, heights)
        if few:
            yield from _starts(series, _COLOURS[number % len(_COLOURS)], time, heights)


def _time_axis(bars: Sequence[ChartBar]) -> ChartAxis:
    """From the first start to the last end; what does not end goes on to the right."""
    low = min(bar.start for bar in bars)
    high = max(bar.start + 1 if bar.end is None else bar.end for bar in bars)
    is_open = any(bar.end is None for bar in bars)
    high += max(1, (high - low) // 20) if is_open else 0
    return ChartAxis(low, max(high, low + 1), _LEFT, _WIDTH - _RIGHT)


def _height_axis(picture: Picture, bars: Sequence[ChartBar]) -> ChartAxis:
    low, high = min(bar.height for bar in bars), max(bar.height for bar in bars)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    if picture.choice.height is None:  # the first lane is above
        return ChartAxis(low - 0.5, high + 0.5, _TOP, _TOP + _HEIGHT)
    return ChartAxis(low - room, high + room, _TOP + _HEIGHT, _TOP)


def _time_marks(axis: ChartAxis, is_clock: bool) -> Iterator[str]:
    for at, label in time_marks(axis.low, axis.high, is_clock):
        x = axis.at(at)
        yield _rule(x, _TOP, x, _TOP + _HEIGHT)
        # The last label stays within the picture.
        middle = min(x, _WIDTH - len(label) * _LETTER / 2)
        yield _text(middle, _TOP + _HEIGHT + 16, label, "middle")


def _height_marks(axis: ChartAxis, picture: Picture) -> Iterator[str]:
    """Lines across the chart with what they mean: numbers, or the keys of lanes."""
    if picture.choice.height is None:
        labels = [(float(lane), _cut(each.key, 11)) for lane, each in enumerate(picture.series)]
    else:
        step = round_step(axis.high - axis.low, 5)
        values = marks(axis.low, axis.high, step)
        labels = [(value, number_label(value, step)) for value in values]
    for value, label in labels:
        y = axis.at(value)
        yield _rule(_LEFT, y, _WIDTH - _RIGHT, y)
        yield _text(_LEFT - 8, y + 4, label, "end")


def _line(series: Series, colour: str, time: ChartAxis, heights: ChartAxis) -> str:
    """One path: level while a row holds, upright where the next one follows at once."""
    path = " ".join(_moves(series.bars, time, heights))
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2">'
        f"<title>{escape(series.key)}</title></path>"
    )


def _moves(bars: Iterable[ChartBar], time: ChartAxis, heights: ChartAxis) -> Iterator[str]:
    end: int | None = None
    for bar in bars:
        left, y = time.at(bar.start), heights.at(bar.height)
        right = time.end if bar.end is None else time.at(bar.end)
        yield f"V{y:.1f}" if bar.start == end else f"M{left:.1f} {y:.1f}"
        # A row that holds for an instant only is still to be seen.
        yield f"H{max(right, left + 1.5):.1f}"
        end = bar.end


def _starts(series: Series, colour: str, time: ChartAxis, heights: ChartAxis) -> Iterator[str]:
    for bar in series.bars:
        x, y = time.at(bar.start), heights.at(bar.height)
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def _legend(picture: Picture) -> Iterator[list[str]]:
    """Lines of keys in their colours; then what is not drawn."""
    x, line = float(_LEFT), list[str]()
    for number, series in enumerate(picture.series if picture.choice.height else ()):
        key = _cut(series.key or str(picture.choice.height), _LONGEST_KEY)
        if line and x + 24 + len(key) * _LETTER > _WIDTH:
            yield line
            x, line = float(_LEFT), []
        colour = _COLOURS[number % len(_COLOURS)]
        line.append(f'<rect x="{x:.0f}" y="4" width="12" height="4" fill="{colour}"/>')
        line.append(_text(x + 18, 11, key, "start"))
        x += 34 + len(key) * _LETTER
    if line:
        yield line
    if note := _left_out(picture):
        yield [_text(_LEFT, 11, note, "start")]


def _left_out(picture: Picture) -> str:
    keys = f"{picture.keys_left_out:,} more keys are not drawn (top=)"
    rows = f"the newest {MOST_ROWS:,} of {picture.rows:,} rows are drawn"
    said = [keys] if picture.keys_left_out else []
    return "; ".join([*said, rows] if picture.rows > MOST_ROWS else said)


def _moved(parts: Iterable[str], y: float) -> str:
    return f'<g transform="translate(0 {y})">{"".join(parts)}</g>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="currentColor" stroke-opacity="0.18"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(text)}</text>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
