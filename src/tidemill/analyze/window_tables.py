"""TUMBLE, HOP, CUMULATE and SESSION: windows whose rows tell to which window they belong.

They are queries over windows of time. A row is in its window from the last instant of that on,
when the window is complete, until the next window is. Where windows overlap, a row is in several,
one after the other: there is a copy of it for each, and the later ones are delayed. The rows of a
session come at its last instant, and hold for that alone: nobody knows when the next one ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sqlglot import exp

from tidemill.algebra import Plan, Project, Scan
from tidemill.algebra.nodes import (
    Aggregate,
    CountWindow,
    Distinct,
    Filter,
    Istream,
    Join,
    TimeWindow,
)
from tidemill.algebra.sets import Union
from tidemill.analyze.boundedness import validity
from tidemill.analyze.scope import Item
from tidemill.analyze.windows import duration, shown
from tidemill.catalog.catalog import Catalog, SourceInfo
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import Duration, StreamFunction, StreamWindow, Tidemill, WindowTable, error_at
from tidemill.timeline import TimeDomain

_MOST: Final = 100  # copies of a row
_COLUMNS: Final = ("window_start", "window_end", "window_time")


@dataclass(frozen=True)
class _Windows:
    """The windows of a table: their size and slide; `cumulative`, if they grow up to the size."""

    size: int
    slide: int
    cumulative: bool
    domain: TimeDomain

    @property
    def copies(self) -> int:
        """How many windows a row is in, at most."""
        return self.size // self.slide

    def length(self, steps: int) -> Duration:
        """A length of time, as it is written."""
        unit = None if self.domain is TimeDomain.TICKS else exp.var("MICROSECOND")
        return Duration(this=exp.Literal.number(steps), unit=unit)

    def clause(self, copy: int) -> StreamWindow:
        """When a copy holds."""
        step = self.length(self.slide)
        delay = self.length(copy * self.slide) if copy else None
        return StreamWindow(kind="RANGE", size=step, slide=step.copy(), delay=delay)

    def columns(self, time: exp.Identifier, copy: int) -> Iterator[exp.Expr]:
        """The columns that a copy has more than the row."""
        end = self._rounded(time, self.slide, (copy + 1) * self.slide)
        start = self._rounded(time, self.slide, (copy + 1) * self.slide - self.size)
        if self.cumulative:
            start = self._rounded(time, self.size, 0)
        last = self._rounded(time, self.slide, (copy + 1) * self.slide - 1)
        for name, node in (("start", start), ("end", end), ("time", last)):
            yield exp.alias_(node, f"window_{name}")

    def condition(self, time: exp.Identifier, copy: int) -> exp.Expr | None:
        """Which rows have this copy: windows that grow begin anew after the size."""
        if not self.cumulative or copy == 0:
            return None
        since = f"{_instant(time, self.domain)} % {self.size}"
        return _expression(f"{since} < {self.size - copy * self.slide}")

    def _rounded(self, time: exp.Identifier, step: int, later: int) -> exp.Expr:
        """The multiple of a step up to the time, and so much later."""
        column = _column(time)
        if self.domain is TimeDomain.TICKS:
            rounded = f"{column} div {step} * {step}"
            return _expression(
                f"{rounded} {'-' if later < 0 else '+'} {abs(later)}" if later else rounded
            )
        past = f"unix_micros({column}) % {step}"
        return _expression(f"timestampadd(MICROSECOND, {later} - {past}, {column})")


def _instant(time: exp.Identifier, domain: TimeDomain) -> str:
    column = _column(time)
    return column if domain is TimeDomain.TICKS else f"unix_micros({column})"


def _column(time: exp.Identifier) -> str:
    return exp.column(exp.to_identifier(time.name, quoted=True)).sql(dialect=Tidemill)


def _expression(text: str) -> exp.Expr:
    node: exp.Expr = exp.maybe_parse(text, dialect="spark")
    return node


def window_query(node: WindowTable, item: Item, catalog: Catalog, domain: TimeDomain) -> exp.Expr:
    """The query that a table of windows stands for; `item` is what it is about."""
    time, comes = _time(node, item, catalog)
    data = node.args["data"]
    if not comes:
        data = _function("ISTREAM", data, item)
    if node.text("kind") == "SESSION":
        return _session(node, data, time, item, domain)
    windows = _windows(node, domain)
    copies = [_copy(windows, number, data, time, item) for number in range(windows.copies)]
    query = _united(copies)
    query.meta.update(node.meta)
    return query


def _session(
    node: WindowTable, data: exp.Expr, time: exp.Identifier, item: Item, domain: TimeDomain
) -> exp.Expr:
    """The rows that go when a session ends, with the times of the first and the last of them."""
    size = node.args["size"]
    gap, keys = duration(size, domain, "GAP"), node.args.get("partition_by") or []
    entry = data.copy()
    clause = StreamWindow(kind="SESSION", size=size.copy(), partition_by=[k.copy() for k in keys])
    entry.set("stream_window", clause)
    by = ", ".join(_column(key.this) for key in keys)
    over = f"OVER ({f'PARTITION BY {by}' if by else ''})"
    last = f"MAX({_column(time)}) {over}"
    columns = [
        *_own_columns(time, item),
        exp.alias_(_expression(f"MIN({_column(time)}) {over}"), _COLUMNS[0]),
        exp.alias_(_later(last, gap, domain), _COLUMNS[1]),
        exp.alias_(_later(last, gap - 1, domain), _COLUMNS[2]),
    ]
    query = exp.Select(expressions=columns).from_(_function("DSTREAM", entry, item), copy=False)
    query.meta.update(node.meta)
    return query


def _later(instant: str, steps: int, domain: TimeDomain) -> exp.Expr:
    if domain is TimeDomain.TICKS:
        return _expression(f"{instant} + {steps}")
    return _expression(f"timestampadd(MICROSECOND, {steps}, {instant})")


def _function(kind: str, data: exp.Expr, item: Item) -> exp.Table:
    return exp.Table(this=StreamFunction(kind=kind, this=data.copy()), alias=_alias(item))


def _own_columns(time: exp.Identifier, item: Item) -> list[exp.Expr]:
    """The columns of a row, with its time; windows of windows have columns of their own."""
    hidden = [exp.column(time.copy())] if time.name in item.hidden else []
    known = [exp.to_identifier(name) for name in item.columns.names if name in _COLUMNS]
    return [exp.Star(except_=known) if known else exp.Star(), *hidden]


def _alias(item: Item) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(item.alias, quoted=True))


def _copy(
    windows: _Windows, number: int, data: exp.Expr, time: exp.Identifier, item: Item
) -> exp.Expr:
    entry = data.copy()
    entry.set("stream_window", windows.clause(number))
    columns = [*_own_columns(time, item), *windows.columns(time, number)]
    query = exp.Select(expressions=columns).from_(entry, copy=False)
    condition = windows.condition(time, number)
    return query if condition is None else query.where(condition, copy=False)


def _united(parts: Sequence[exp.Expr]) -> exp.Expr:
    """All parts, in a tree that is not deep."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    left, right = _united(parts[:middle]), _united(parts[middle:])
    return exp.Union(this=left, expression=right, distinct=False)


def _windows(node: WindowTable, domain: TimeDomain) -> _Windows:
    kind, size = node.text("kind"), duration(node.args["size"], domain, "SIZE")
    word = {"HOP": "slide", "CUMULATE": "step"}.get(kind, "size")
    slide = duration(node.args[word], domain, word.upper())
    _check_offset(node, domain)
    if size % slide:
        here, there = (shown(each, domain) for each in (size, slide))
        message = f"the size {here} is not a multiple of the {word} {there}"
        near = shown(max(size // slide, 1) * slide, domain)
        raise error_at(PlanError, message, node.args["size"], f"write for example {near}")
    windows = _Windows(size, slide, kind == "CUMULATE", domain)
    if windows.copies > _MOST:
        message = f"every row is in {windows.copies} windows, and {_MOST} are the most"
        clause = f"WINDOW(RANGE {shown(size, domain)} SLIDE {shown(slide, domain)})"
        help = f"{clause} has the same rows, without window_start and window_end"
        raise error_at(UnsupportedError, message, node, help)
    return windows


def _check_offset(node: WindowTable, domain: TimeDomain) -> None:
    offset = node.args.get("offset")
    if offset is not None and offset.value:
        origin = "0" if domain is TimeDomain.TICKS else "1970-01-01 00:00 UTC"
        message = f"an offset is not supported: windows are counted from {origin}"
        raise error_at(UnsupportedError, message, offset, "leave the offset out")


def _time(node: WindowTable, item: Item, catalog: Catalog) -> tuple[exp.Identifier, bool]:
    """The column of the time, and whether rows hold for its instant only."""
    named = node.args["timecol"]
    found = item.match(named.name)
    if found is None:
        help = f"columns: {', '.join(item.columns.names)}"
        message = f"unknown column `{named.name}` in {item.word} `{item.alias}`"
        raise error_at(PlanError, message, named, help)
    origin = _origin(item.plan, item.plan_column(found), catalog)
    if origin is None:
        message = f"`{found}` is not the time of `{item.alias}`"
        raise error_at(PlanError, message, named, _time_help(item, catalog))
    instant = validity(item.plan).instant
    if not instant and origin is _Origin.STREAM:
        message = f"the rows of `{item.alias}` hold longer than an instant"
        help = f"leave its window out: {node.text('kind')} is a window itself"
        raise error_at(PlanError, message, node.args["data"], help)
    return exp.to_identifier(found), instant


def _time_help(item: Item, catalog: Catalog) -> str:
    info = catalog.find(item.source) if item.source else None
    if isinstance(info, SourceInfo) and info.time_column:
        return f"write DESCRIPTOR({info.time_column})"
    if isinstance(info, SourceInfo):
        return "declare the stream with ORDERED BY a column"
    return "select the time column of a stream in the query, or window_time"


class _Origin(Enum):
    """Where a column with the instant at which rows come is from."""

    STREAM = "the time of a stream"
    WINDOW = "window_time, the instant at which a window is complete"


def _origin(plan: Plan, name: str, catalog: Catalog) -> _Origin | None:
    """Where a column is from, if it has the instants at which the rows of a plan come."""
    match plan:
        case Scan():
            info = catalog.find(plan.source)
            own = info.time_column if isinstance(info, SourceInfo) else None
            return _Origin.STREAM if own and name == f"{plan.alias}.{own}" else None
        case Project():
            scalar = dict(plan.items)[name]
            if scalar.is_column:
                return _origin(plan.child, scalar.node.name, catalog)
            return _Origin.WINDOW if name.rpartition(".")[2] == _COLUMNS[-1] else None
        case Aggregate() if name not in plan.keys:
            return None
        case Aggregate() | Filter() | Distinct() | Istream() | CountWindow(slide=1):
            return _origin(plan.child, name, catalog)
        case TimeWindow(slide=1, delay=0):
            return _origin(plan.child, name, catalog)
        case Join():
            (side,) = (side for side in plan.children if name in side.schema)
            return _origin(side, name, catalog)
        case Union():
            place = plan.schema.names.index(name)
            found = {_origin(side, side.schema.names[place], catalog) for side in plan.children}
            return found.pop() if len(found) == 1 else None
    return None
