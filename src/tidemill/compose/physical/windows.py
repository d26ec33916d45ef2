"""For how long rows hold."""

from __future__ import annotations

from tidemill.algebra import Plan
from tidemill.algebra.adjusting import Bounds
from tidemill.analyze.windows import duration
from tidemill.compose import texts
from tidemill.compose.bench import Bench
from tidemill.compose.model import about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.physical.making import LOGICAL, below, ordinary, waiting
from tidemill.physical.operators.count_window import CountWindowExec
from tidemill.physical.operators.granularity import GranularityExec
from tidemill.physical.operators.session_window import SessionWindowExec
from tidemill.physical.operators.split import SplitExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.sql import Unbounded
from tidemill.timeline import TimeDomain


def steps(bench: Bench, name: str) -> int | None:
    """A length of time in instants; None if it is not given, or without bound."""
    text = bench.text(name)
    if not text:
        return None
    with about(name):
        found = texts.length(text)
        if isinstance(found, Unbounded):
            return None
        if bench.context.domain is None:
            has_unit = found.unit is not None
            bench.context.domain = TimeDomain.MICROSECONDS if has_unit else TimeDomain.TICKS
        return duration(found, bench.context.domain, bench.operator.setting(name).title)


def _instants(bench: Bench) -> None:
    """Windows take rows that hold for one instant."""
    ordinary(bench)
    if not below(bench).validity.chronon:
        message = "the rows of the input hold longer than an instant"
        help = "put Rows that come between them, or a Split of length 1"
        raise wrong(message, help, input=0)


def _bounds(bench: Bench, low: int | None, high: int | None) -> Bounds | None:
    if low is None or high is None:
        return None
    if low > high:
        raise wrong("At least is more than the size", "swap the two", "least")
    return Bounds(low, high, bench.context.fresh("#window"))


def _time_window(bench: Bench) -> Plan:
    _instants(bench)
    size = steps(bench, "size")
    bounds = _bounds(bench, steps(bench, "least"), size)
    slide, delay = steps(bench, "slide") or 1, steps(bench, "delay") or 0
    return TimeWindowExec(below(bench), size, slide, delay, bounds=bounds)


def _count_window(bench: Bench) -> Plan:
    _instants(bench)
    by = _partition(bench)
    unbounded = bench.text("rows").upper() == "UNBOUNDED"
    rows = None if unbounded else bench.integer("rows", 1)
    bounds = _bounds(bench, bench.integer("least", 1), rows)
    slide = bench.integer("slide", 1) or 1
    return CountWindowExec(waiting(bench.plan), rows, slide, by, bounds=bounds)


def _partition(bench: Bench) -> tuple[str, ...]:
    stage = bench.stage(bench.plan)
    found = bench.expressions("by")
    return tuple(bench.column("by", text, node, stage) for text, node in found)


def _session_window(bench: Bench) -> Plan:
    _instants(bench)
    gap = steps(bench, "gap")
    if gap is None:
        raise wrong("Gap takes a duration", "for example 10 MINUTES", "gap")
    return SessionWindowExec(waiting(bench.plan), gap, _partition(bench))


def _granularity(bench: Bench) -> Plan:
    ordinary(bench)
    granule, coarsest = steps(bench, "granule"), steps(bench, "coarsest")
    if granule is None:
        raise wrong("Granule takes a duration", "for example 1 SECOND", "granule")
    if coarsest is not None and (coarsest < granule or coarsest % granule):
        raise wrong("Coarsest is not a multiple of the granule", "use a multiple", "coarsest")
    return GranularityExec(below(bench), granule, bounds=_bounds(bench, granule, coarsest))


def _split(bench: Bench) -> Plan:
    ordinary(bench)
    return SplitExec(waiting(bench.plan), bench.integer("length", 1) or 1)


OPERATORS = (
    Card(
        "time_window",
        "Time window",
        "windows",
        "Each row holds for a given time; UNBOUNDED for ever.",
        _time_window,
        LOGICAL["time_window"].settings,
    ),
    Card(
        "count_window",
        "Count window",
        "windows",
        "Each row holds until a given number of rows of its group has come after it.",
        _count_window,
        (
            *LOGICAL["count_window"].settings,
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
        "session_window",
        "Session window",
        "windows",
        "Each row holds until no row of its group has come for a given time.",
        _session_window,
        LOGICAL["session_window"].settings,
    ),
    Card(
        "granularity",
        "Granularity",
        "windows",
        "Rounds starts and ends up to multiples of a length of time.",
        _granularity,
        LOGICAL["granularity"].settings,
    ),
    Card(
        "split",
        "Split",
        "windows",
        "Cuts the validity of rows into pieces of a given length.",
        _split,
        (
            Setting(
                "length",
                "Length",
                "integer",
                "The length of a piece, in instants (integers or microseconds).",
                "1",
                default=1,
            ),
        ),
    ),
)
