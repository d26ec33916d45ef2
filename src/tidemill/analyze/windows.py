"""Windows, granularities and stream functions over one entry of FROM."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from tidemill import algebra
from tidemill.algebra import CountWindow, Dstream, Istream, Plan, Rstream, SessionWindow, TimeWindow
from tidemill.algebra.adjusting import Bounds
from tidemill.algebra.nodes import Adjustable
from tidemill.algebra.whole_rows import has_whole_rows
from tidemill.analyze.boundedness import validity
from tidemill.analyze.context import Context
from tidemill.analyze.scope import Item, Scope
from tidemill.errors import PlanError
from tidemill.sql import (
    UNIT_MICROS,
    Duration,
    GranularityClause,
    RowCount,
    StreamFunction,
    StreamWindow,
    Unbounded,
    error_at,
)
from tidemill.timeline import TimeDomain

_Sized = TypeVar("_Sized", bound=Adjustable)


def duration(node: Duration, domain: TimeDomain, clause: str) -> int:
    """A length of time in the steps of a time axis."""
    if domain is TimeDomain.TICKS and node.unit is not None:
        message = f"{clause} has a time unit, but time here is a number of ticks"
        raise error_at(PlanError, message, node, f"leave the unit out: {clause} {node.value}")
    if domain is TimeDomain.MICROSECONDS and node.unit is None:
        message = f"{clause} lacks a unit: time here is TIMESTAMP"
        raise error_at(PlanError, message, node, f"write for example {clause} {node.value} SECONDS")
    return node.ticks if node.unit is None else node.micros


def shown(length: int, domain: TimeDomain) -> str:
    """A length of time as a user would write it.

    >>> shown(90_000_000, TimeDomain.MICROSECONDS), shown(90, TimeDomain.TICKS)
    ('90 SECONDS', '90')
    """
    if domain is TimeDomain.TICKS:
        return str(length)
    unit = max(
        (u for u, size in UNIT_MICROS.items() if length % size == 0), key=lambda u: UNIT_MICROS[u]
    )
    number = length // UNIT_MICROS[unit]
    return f"{number} {unit}{'S' * (number != 1)}"


def apply_clauses(item: Item, node: exp.Expr, context: Context) -> Item:
    """Put the window and the granularity that follow a reference on its plan."""
    window, granularity = node.args.get("stream_window"), node.args.get("granularity")
    if isinstance(window, StreamWindow):
        item = _with_window(item, window, context)
    if isinstance(granularity, GranularityClause):
        item = replace(item, plan=_with_granularity(item, granularity, context))
    return item


def apply_function(plan: Plan, node: StreamFunction, context: Context) -> Plan:
    """Put ISTREAM, DSTREAM or RSTREAM on a plan."""
    kind = node.text("kind")
    found = validity(plan)
    if kind == "DSTREAM" and found.never_ends:
        message = "DSTREAM reports rows that go, but none ever goes here"
        help = "use ISTREAM, or give the window a size"
        raise error_at(PlanError, message, node, help)
    if kind == "RSTREAM" and not found.instant and _is_fine(context):
        message = "RSTREAM repeats every row once per microsecond"
        context.warn(message, node, "use ISTREAM for the rows that come")
    return {"ISTREAM": Istream, "DSTREAM": Dstream, "RSTREAM": Rstream}[kind](plan)


def _is_fine(context: Context) -> bool:
    return context.domain is TimeDomain.MICROSECONDS


def _with_window(item: Item, node: StreamWindow, context: Context) -> Item:
    domain = _domain(item, node, context, "a window")
    kind = node.text("kind")
    if kind == "NOW":
        return replace(item, is_windowed=True)
    if not validity(item.plan).instant and _is_fine(context):
        message = f"the rows of `{item.alias}` hold longer than an instant: this window takes each"
        help = f"window the rows that come: ISTREAM(...) AS {item.alias}"
        context.warn(f"{message} once per microsecond", node, help)
    plan = _window(item, node, domain, context)
    context.origins[plan] = node
    return replace(item, plan=plan, is_windowed=True)


def _window(item: Item, node: StreamWindow, domain: TimeDomain, context: Context) -> Plan:
    if node.text("kind") == "SESSION":
        return _session_window(item, node, domain)
    build = _rows_window if node.text("kind") == "ROWS" else _range_window
    return _named(build(item, node, domain), context)


def _session_window(item: Item, node: StreamWindow, domain: TimeDomain) -> SessionWindow:
    gap = duration(node.args["size"], domain, "SESSION")
    return SessionWindow(item.plan, gap, _partition(item, node))


def _partition(item: Item, node: StreamWindow) -> tuple[str, ...]:
    return tuple(_partition_column(item, part) for part in node.args.get("partition_by") or ())


def _domain(item: Item, node: exp.Expr, context: Context, what: str) -> TimeDomain:
    if validity(item.plan).constant:
        message = f"`{item.alias}` never changes, so {what} has no meaning on it"
        raise error_at(PlanError, message, node, f"remove it: {what} belongs to a stream")
    if context.domain is None:
        # A time-varying relation takes over the time of the query that reads it.
        has_unit = any(size.unit is not None for size in node.find_all(Duration))
        domain = TimeDomain.MICROSECONDS if has_unit else TimeDomain.TICKS
        context.use(item.source or item.alias, domain, node)
        return domain
    return context.domain


def _range_window(item: Item, node: StreamWindow, domain: TimeDomain) -> TimeWindow:
    slide, delay = node.args.get("slide"), node.args.get("delay")
    step = duration(slide, domain, "SLIDE") if slide else 1
    later = duration(delay, domain, "DELAY") if delay else 0
    if isinstance(node.args.get("size"), Unbounded):
        return TimeWindow(item.plan, None, step, later)
    if (size := node.args.get("size")) is not None:
        return TimeWindow(item.plan, duration(size, domain, "RANGE"), step, later)
    low, high = (duration(node.args[end], domain, end.upper()) for end in ("min", "max"))
    _check_bounds(node, low, high)
    return TimeWindow(item.plan, high, step, later, bounds=Bounds(low, high))


def _rows_window(item: Item, node: StreamWindow, domain: TimeDomain) -> CountWindow:
    slide = node.args.get("slide")
    step = slide.value if isinstance(slide, RowCount) else 1
    keys = _partition(item, node)
    if isinstance(node.args.get("size"), Unbounded):
        return CountWindow(item.plan, None, step, keys)
    if (size := node.args.get("size")) is not None:
        return CountWindow(item.plan, size.value, step, keys)
    low, high = node.args["min"].value, node.args["max"].value
    _check_bounds(node, low, high)
    return CountWindow(item.plan, high, step, keys, bounds=Bounds(low, high))


def _named(plan: _Sized, context: Context) -> _Sized:
    """The window with a name of its own in the query, if it can be adjusted."""
    if plan.bounds is None:
        return plan
    return replace(plan, bounds=plan.bounds._replace(window=context.fresh("#window")))


def _check_bounds(node: StreamWindow, low: int, high: int) -> None:
    if low > high:
        raise error_at(PlanError, "MIN is larger than MAX", node, "swap the two sizes")


def _partition_column(item: Item, node: exp.Column) -> str:
    found = Scope([item]).resolve(node)
    if not isinstance(found, exp.Column):
        help = "compute the column in a subquery first"
        raise error_at(PlanError, "PARTITION BY takes columns of the stream", node, help)
    return found.name


def _with_granularity(item: Item, node: GranularityClause, context: Context) -> Plan:
    domain = _domain(item, node, context, "a granularity")
    plan = _named(_granularity(item.plan, node, domain), context)
    for finer in (found for found in item.plan.walk() if isinstance(found, algebra.Granularity)):
        if plan.granule % finer.granule:
            below, here = (shown(size, domain) for size in (finer.granule, plan.granule))
            message = f"the granularity below is {below}, and {here} is not coarser"
            raise error_at(PlanError, message, node, f"use a multiple of {below}")
    if plan.bounds is not None and not _can_be_coarsened(item.plan):
        message = f"the granularity of `{item.alias}` stays at FINEST: only that of a stream and"
        help = f"write GRANULARITY({shown(plan.granule, domain)}), or put it on the stream"
        context.warn(f"{message} its RANGE window is adjusted", node, help)
        return replace(plan, bounds=None)
    return plan


def _can_be_coarsened(plan: Plan) -> bool:
    """The granule that was in force when a row came is its own, so rows must not be pieces."""
    return has_whole_rows(plan) or validity(plan).instant


def _granularity(plan: Plan, node: GranularityClause, domain: TimeDomain) -> algebra.Granularity:
    if (size := node.args.get("size")) is not None:
        return algebra.Granularity(plan, duration(size, domain, "GRANULARITY"))
    finest = duration(node.args["finest"], domain, "FINEST")
    coarsest = duration(node.args["coarsest"], domain, "COARSEST")
    if finest > coarsest:
        raise error_at(PlanError, "FINEST is larger than COARSEST", node, "swap the two")
    if coarsest % finest:
        fine, coarse = (shown(size, domain) for size in (finest, coarsest))
        message = f"COARSEST {coarse} is not a multiple of FINEST {fine}"
        nearest = shown(coarsest // finest * finest, domain)
        raise error_at(PlanError, message, node, f"use for example COARSEST {nearest}")
    return algebra.Granularity(plan, finest, bounds=Bounds(finest, coarsest))
