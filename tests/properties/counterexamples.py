"""Cases that once went wrong, cut down to what matters. They always run.

Rows are (k, v, f, s, at); a stream is its slack and its ticks. To add one: take the query and the
data that a failing seed printed, leave out what is not needed, and say what was wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.checking.plans import Inputs
from tests.random.data import TIME, RandomStream
from tests.random.plans import COLUMNS, RELATION, SOURCES
from tests.random.relations import CHANGING, TEMPORAL, VERSIONED
from tests.random.versions import Version
from tidemill.algebra import Aggregate, AggregateCall, Dstream, Join, Plan, TimeWindow
from tidemill.algebra.nodes import Scan, SourceKind

Row = tuple[int | None, int | None, float | None, str | None, int]
Ticks = Sequence[Sequence[Row]]

_NAMES = (*COLUMNS.names, TIME)


@dataclass(frozen=True)
class Counterexample:
    """A query or plan, and the rows on which its answer was wrong."""

    name: str
    query: str | Plan
    streams: Mapping[str, tuple[int, Ticks]] = field(default_factory=dict)
    relation: Sequence[tuple[Any, ...]] = ()
    temporal: Sequence[Version] = ()
    changing: Sequence[Version] = ()

    @property
    def inputs(self) -> Inputs:
        """The rows; streams that are not named are empty."""
        streams = {name: _stream(*self.streams.get(name, (0, [[]]))) for name in SOURCES}
        rows = [dict(zip(COLUMNS.names, row, strict=True)) for row in self.relation]
        temporal = {TEMPORAL: self.temporal} if self.temporal else {}
        changing = {CHANGING: self.changing} if self.changing else {}
        return Inputs(streams, {RELATION: rows}, temporal, changing)


def _stream(slack: int, ticks: Ticks) -> RandomStream:
    records = tuple(tuple(dict(zip(_NAMES, row, strict=True)) for row in tick) for tick in ticks)
    return RandomStream(records, slack)


def _row(at: int, v: int | None = None, k: int | None = None, s: str | None = None) -> Row:
    return (k, v, None, s, at)


def _twice(function: str) -> Plan:
    window = TimeWindow(Scan("alpha", "a", COLUMNS), 3)
    data_type = COLUMNS["v"]
    calls = [AggregateCall(name, function, "a.v", data_type) for name in ("one", "other")]
    return Aggregate(window, (), tuple(calls))


def _looked_up_ahead() -> Plan:
    """Rows that a temporal relation brings for instants to come, with a relation that changes."""
    rows = Dstream(Scan(TEMPORAL, "t", COLUMNS, SourceKind.INTERVALS))
    return Join(rows, Scan(CHANGING, "c", VERSIONED, SourceKind.CHANGING), None)


_ANY = {"k": 1, "v": 2, "f": None, "s": "a"}
_DESCENT = (0, [[_row(0, 5), _row(1, 3)], [_row(2, 4)], [_row(4, 1), _row(5, 2)], [_row(9, 0)]])
_ONE_EACH = {
    "alpha": (0, [[_row(0, 1, 1, "a"), _row(2, 2, 2, "b")], [_row(3, None, None)]]),
    "beta": (0, [[_row(1, 1, 1, "a")], [_row(3, 2, 2, "a")]]),
}

COUNTEREXAMPLES = [
    # Both calls shared one state, and each step was taken twice.
    Counterexample("the same MIN twice over several ticks", _twice("MIN"), {"alpha": _DESCENT}),
    Counterexample("the same MAX twice over several ticks", _twice("MAX"), {"alpha": _DESCENT}),
    # The two keys of the join had the same name on one side.
    Counterexample(
        "a column in two equalities of a join",
        "SELECT a.v AS x, b.v AS y FROM alpha WINDOW(RANGE 5) a JOIN beta WINDOW(RANGE 5) b"
        " ON a.v = b.v AND a.v = b.at",
        {
            "alpha": (0, [[_row(0, 1), _row(1, 2)], [_row(2, 2)]]),
            "beta": (0, [[_row(1, 1), _row(2, 1)], [_row(2, 2), _row(3, 2)]]),
        },
    ),
    # A copy that ended right at the watermark was let go with an empty interval.
    Counterexample(
        "a copy that ends at the watermark, below a top-k",
        "SELECT v, s FROM (SELECT v, s FROM alpha WINDOW(RANGE 3)"
        " EXCEPT ALL SELECT v, s FROM beta WINDOW(RANGE 2)) ORDER BY v LIMIT 1",
        {
            "alpha": (0, [[_row(0, 1), _row(0, 2)], [_row(3, 1)], [_row(6, 2), _row(6, 2)]]),
            "beta": (0, [[_row(0, 1)], [_row(3, 2)], [_row(6, 2)]]),
        },
    ),
    # HAVING became a subquery of its own, which aggregated nothing and so had many rows.
    Counterexample(
        "a scalar subquery whose HAVING has no aggregate",
        "SELECT a.v FROM alpha WINDOW(RANGE 4) a WHERE a.v = (SELECT COUNT(*) FROM beta"
        " WINDOW(RANGE 3) b WHERE b.k = a.k HAVING a.s = 'a')",
        _ONE_EACH,
    ),
    Counterexample(
        "a scalar subquery with an aggregate in HAVING only",
        "SELECT a.v FROM alpha WINDOW(RANGE 4) a WHERE a.v = (SELECT 1 FROM beta"
        " WINDOW(RANGE 3) b HAVING COUNT(*) > 0)",
        _ONE_EACH,
    ),
    # The single row was compared as if it had a single column.
    Counterexample(
        "two columns in a single aggregated row",
        "SELECT a.v FROM alpha WINDOW(RANGE 4) a WHERE (a.v, a.s) NOT IN (SELECT MAX(b.v),"
        " MIN(b.s) FROM beta WINDOW(RANGE 3) b WHERE b.k <= a.k)",
        _ONE_EACH,
    ),
    # The name meant the column of the query around, and the query of WITH saw that query at all.
    Counterexample(
        "GROUP BY an alias that the query around has as a column",
        "SELECT x FROM (SELECT s AS x, k FROM alpha WINDOW(RANGE 4)) a WHERE a.k < ANY"
        " (SELECT COUNT(*) FROM (SELECT s AS x, COUNT(*) AS n FROM beta WINDOW(RANGE 3)"
        " GROUP BY x) b WHERE b.n <= a.k OR b.x = a.x)",
        _ONE_EACH,
    ),
    Counterexample(
        "GROUP BY an alias in WITH, used in a correlated subquery",
        "WITH w AS (SELECT s AS x, COUNT(*) AS n FROM beta WINDOW(RANGE 3) GROUP BY x)"
        " SELECT a.x FROM w AS a WHERE a.n <= (SELECT MAX(n) FROM w AS b WHERE b.x = a.x)",
        _ONE_EACH,
    ),
    Counterexample(
        "a user function of LENGTH",
        "SELECT bump(LENGTH(s)) AS n FROM alpha WINDOW(RANGE 4)",
        _ONE_EACH,
    ),
    # Conditions that look at no column were never tested.
    Counterexample(
        "a condition of a join without columns",
        "SELECT a.v, b.s FROM alpha WINDOW(RANGE 4) a FULL OUTER JOIN beta WINDOW(RANGE 3) b"
        " ON a.k = b.k AND 1 > 2",
        _ONE_EACH,
    ),
    # The row that came first was let go: it was not in the way of the largest value of its group.
    Counterexample(
        "the largest value, and how many rows there are",
        "SELECT /*+ RANK(eaa) */ k, MAX(v) AS score, COUNT(*) AS n FROM alpha WINDOW(RANGE 6)"
        " GROUP BY k ORDER BY score DESC LIMIT 1",
        {"alpha": (0, [[_row(0, None, 1)], [_row(1, 5, 2)], [_row(2, 7, 1)], [_row(3, 1, 3)]])},
    ),
    # A frame of no columns of the relation had no rows.
    Counterexample(
        "a condition on the rows that look up a relation",
        "SELECT a.v FROM alpha WINDOW(RANGE 4) a WHERE a.k NOT IN (SELECT a.v FROM delta d)",
        _ONE_EACH,
        [(1, 1, 0.5, "a")],
    ),
    # They were looked up when they came, and a change that came later counts from before them.
    Counterexample(
        "rows of instants to come look up a relation that changes",
        _looked_up_ahead(),
        {"beta": (0, [[_row(4, 1)], [_row(5, 1)]])},
        temporal=[(_ANY, 4, 7)],
        changing=[(_ANY, 5, 10)],
    ),
]
