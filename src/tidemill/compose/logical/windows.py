"""For how long rows hold: windows, and the granularity of time."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from tidemill.algebra import CountWindow, Plan, SessionWindow
from tidemill.algebra.nodes import entries
from tidemill.analyze.scope import Item
from tidemill.analyze.windows import apply_clauses
from tidemill.compose import texts
from tidemill.compose.bench import Bench
from tidemill.compose.model import about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.sql import Duration, GranularityClause, RowCount, StreamWindow, Unbounded


def _clauses(bench: Bench, setting: str, **clauses: exp.Expr) -> Plan:
    """What the language makes of an entry of FROM with these clauses."""
    alias = "+".join(entries(bench.plan)) or "the input"
    node = exp.Table(this=exp.to_identifier("x"), **clauses)
    item = Item(alias, alias, bench.plan, bench.plan.schema, node)
    with about(setting):
        return apply_clauses(item, node, bench.context).plan


def length_of(bench: Bench, name: str) -> Duration | None:
    """A length of time that a setting gives."""
    text = bench.text(name)
    if not text:
        return None
    with about(name):
        found = texts.length(text)
    if isinstance(found, Unbounded):
        help = "use the Unbounded window"
        raise wrong("this takes a duration", help, name)
    return found


def _time_window(bench: Bench) -> Plan:
    size, least = length_of(bench, "size"), length_of(bench, "least")
    slide = length_of(bench, "slide")
    sizes = {"size": size} if least is None else {"min": least, "max": size}
    delay = length_of(bench, "delay")
    window = StreamWindow(kind="RANGE", slide=slide, delay=delay, **sizes)
    return _clauses(bench, "size", stream_window=window)


def _unbounded_window(bench: Bench) -> Plan:
    slide, delay = length_of(bench, "slide"), length_of(bench, "delay")
    window = StreamWindow(kind="RANGE", size=Unbounded(), slide=slide, delay=delay)
    return _clauses(bench, "slide", stream_window=window)


def _now_window(bench: Bench) -> Plan:
    return _clauses(bench, "size", stream_window=StreamWindow(kind="NOW"))


def _count_window(bench: Bench) -> Plan:
    by = _partition(bench) if bench.operator.kind == "partitioned_window" else ()
    if bench.text("rows").upper() == "UNBOUNDED":
        sizes: dict[str, exp.Expr] = {"size": Unbounded()}
    elif (least := bench.integer("least", 1)) is not None:
        sizes = {"min": rows_of(least), "max": rows_of(bench.integer("rows", 1))}
    else:
        sizes = {"size": rows_of(bench.integer("rows", 1))}
    slide = bench.integer("slide", 1)
    steps = {} if slide in (None, 1) else {"slide": rows_of(slide)}
    window = StreamWindow(kind="ROWS", **sizes, **steps)
    plan = _clauses(bench, "rows", stream_window=window)
    return replace(plan, partition_by=by) if isinstance(plan, CountWindow) else plan


def _session_window(bench: Bench) -> Plan:
    window = StreamWindow(kind="SESSION", size=length_of(bench, "gap"))
    plan = _clauses(bench, "gap", stream_window=window)
    return (
        replace(plan, partition_by=_partition(bench)) if isinstance(plan, SessionWindow) else plan
    )


def rows_of(number: int | None) -> RowCount:
    """A number of rows."""
    return RowCount(this=exp.Literal.number(number or 1))


def _partition(bench: Bench) -> tuple[str, ...]:
    stage = bench.stage(bench.plan)
    found = bench.expressions("by")
    return tuple(bench.column("by", text, node, stage) for text, node in found)


def _granularity(bench: Bench) -> Plan:
    finest, coarsest = length_of(bench, "granule"), length_of(bench, "coarsest")
    sizes = {"size": finest} if coarsest is None else {"finest": finest, "coarsest": coarsest}
    return _clauses(bench, "granule", granularity=GranularityClause(**sizes))


_SLIDE = Setting(
    "slide",
    "Slide",
    "duration",
    "How often the content changes; by default whenever a row comes or goes.",
    "1 MINUTE",
)
_DELAY = Setting(
    "delay",
    "Delay",
    "duration",
    "By how much rows enter later than they come: the window as it was before.",
    "10 MINUTES",
)
_ROWS = Setting(
    "rows", "Rows", "integer", "How many rows; UNBOUNDED for all.", "100", required=True
)
_LEAST_ROWS = Setting(
    "least",
    "At least",
    "integer",
    "If memory is short, the engine may make the window smaller, down to this.",
    "10",
)
_SLIDE_ROWS = Setting("slide", "Slide", "integer", "After how many rows the content changes.", "10")

OPERATORS = (
    Card(
        "time_window",
        "Time window",
        "windows",
        "Each row holds for a given time: the rows of the last five minutes.",
        _time_window,
        (
            Setting(
                "size",
                "Size",
                "duration",
                "How long a row holds; a plain number if time is an integer.",
                "5 MINUTES",
                required=True,
            ),
            _SLIDE,
            Setting(
                "least",
                "At least",
                "duration",
                "If memory is short, the engine may make the window smaller, down to this.",
                "1 MINUTE",
            ),
            _DELAY,
        ),
    ),
    Card(
        "now_window",
        "Now window",
        "windows",
        "Each row holds for its own instant only, as without a window.",
        _now_window,
    ),
    Card(
        "unbounded_window",
        "Unbounded window",
        "windows",
        "Each row holds for ever: all rows up to now.",
        _unbounded_window,
        (_SLIDE, _DELAY),
    ),
    Card(
        "count_window",
        "Count window",
        "windows",
        "Each row holds until a given number of rows has come after it: the last hundred rows.",
        _count_window,
        (_ROWS, _SLIDE_ROWS, _LEAST_ROWS),
    ),
    Card(
        "partitioned_window",
        "Partitioned window",
        "windows",
        "The last rows of each group: the last bid for every item.",
        _count_window,
        (
            Setting(
                "by",
                "Partition by",
                "columns",
                "The columns that define the groups.",
                "item",
                required=True,
            ),
            _ROWS,
            _SLIDE_ROWS,
            _LEAST_ROWS,
        ),
    ),
    Card(
        "session_window",
        "Session window",
        "windows",
        "Each row holds until no row of its group has come for a given time: a visit of a page.",
        _session_window,
        (
            Setting(
                "gap",
                "Gap",
                "duration",
                "How long no row may come before a session ends.",
                "10 MINUTES",
                required=True,
            ),
            Setting(
                "by",
                "Partition by",
                "columns",
                "The columns that define the groups; without them, all rows are one group.",
                "item",
            ),
        ),
    ),
    Card(
        "granularity",
        "Granularity",
        "windows",
        "Rows come and go only at multiples of a given time, which saves work.",
        _granularity,
        (
            Setting(
                "granule",
                "Granule",
                "duration",
                "The granule; starts and ends are rounded up to its multiples.",
                "1 SECOND",
                required=True,
            ),
            Setting(
                "coarsest",
                "Coarsest",
                "duration",
                "If memory is short, the engine may make it longer, up to this.",
                "10 SECONDS",
            ),
        ),
    ),
)
