"""Joins with time-varying relations: a row of a stream looks them up when it arrives.

A change of a relation does not touch the rows of streams that came before it. So the join with the
relation stands below the window of the stream, where every row holds for its instant only, and
finds what holds at that instant. Streams that meet through a relation each look it up, and must
find the same row of it. What has no window, as the result of an aggregation, has no time of
arrival either: it meets the relation as it is at each instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from tidemill.algebra import (
    AntiJoin,
    CountWindow,
    Filter,
    Granularity,
    Join,
    Plan,
    Project,
    Scalar,
    SemiJoin,
    SessionWindow,
    TimeWindow,
    Union,
    Unnest,
    column,
)
from tidemill.algebra.plan import Memo
from tidemill.algebra.relations import is_changing, version_column
from tidemill.algebra.scalar import conjunction, equality
from tidemill.analyze.region import Region, is_equality, region_of
from tidemill.errors import UnsupportedError
from tidemill.sql import error_at

Origins = Mapping[Plan, exp.Expr]

_COUNT_HELP: Final = "use WINDOW(RANGE ...), or look the relation up in a subquery over the stream"


def look_up_on_arrival(plan: Plan, origins: Origins) -> Plan:
    """Move joins with time-varying relations below windows; `origins` are places of windows."""
    if not any(map(is_changing, plan.walk())):
        return plan
    return _Arrivals(origins).of(plan)


@dataclass(frozen=True)
class Arrival:
    """A stream as its rows arrive, and the windows over it, from below."""

    rows: Plan
    windows: tuple[TimeWindow | Granularity, ...]

    def kept(self, plan: Plan) -> Plan:
        """Other rows, kept as long as those of the stream."""
        for window in self.windows:
            plan = replace(window, child=plan)
        return plan


def arrival_of(plan: Plan) -> Arrival | None:
    """How the rows of a windowed stream arrive; None if it is none.

    What looks at single rows does the same below a window.
    """
    above: list[Filter | Project | Unnest] = []
    windows: list[TimeWindow | Granularity] = []
    while not isinstance(plan, TimeWindow):
        if isinstance(plan, Granularity):
            windows.append(plan)
        elif isinstance(plan, Filter | Project | Unnest):
            above.append(plan)
        else:
            return None
        plan = plan.child
    rows = plan.child
    for node in reversed(above):
        rows = node.with_children([rows])
    return Arrival(rows, (plan, *reversed(windows)))


class _Arrivals:
    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self.of: Memo[Plan, Plan] = Memo(self._moved)

    def _moved(self, plan: Plan) -> Plan:
        if isinstance(plan, Filter | Join):
            region = region_of(plan)
            inputs = [self.of(child) for child in region.inputs]
            return _Lookups(replace(region, inputs=inputs), self._origins).placed()
        plan = plan.with_children([self.of(child) for child in plan.children])
        if isinstance(plan, SemiJoin | AntiJoin) and is_changing(plan.right):
            return self._pushed(plan, plan.left, plan.condition)
        return plan

    def _pushed(self, test: SemiJoin | AntiJoin, rows: Plan, condition: Scalar | None) -> Plan:
        """The rows that pass the test when they arrive."""
        if (arrival := arrival_of(rows)) is not None:
            return arrival.kept(replace(test, left=arrival.rows, condition=condition))
        match rows:
            case Filter() | Granularity():
                return rows.with_children([self._pushed(test, rows.child, condition)])
            case Project() if condition is None or condition.columns & {n for n, _ in rows.items}:
                below = None if condition is None else condition.substitute(dict(rows.items))
                return rows.with_children([self._pushed(test, rows.child, below)])
            case Union():
                sides = [self._pushed(test, side, condition) for side in rows.children]
                return rows.with_children(sides)
            case Join() | SemiJoin() | AntiJoin():
                return self._pushed_into_join(test, rows, condition)
            case CountWindow() | SessionWindow():
                raise _no_arrival(rows, self._origins)
        return replace(test, left=rows, condition=condition)

    def _pushed_into_join(
        self, test: SemiJoin | AntiJoin, rows: Join | SemiJoin | AntiJoin, condition: Scalar | None
    ) -> Plan:
        used = frozenset[str]() if condition is None else condition.columns
        left, right = rows.left, rows.right
        own = used & set(rows.schema.names)
        if not isinstance(rows, Join) or (own and own <= set(left.schema.names)):
            return replace(rows, left=self._pushed(test, left, condition))
        if own and own <= set(right.schema.names):
            return replace(rows, right=self._pushed(test, right, condition))
        raise _several_streams(condition, test)


@dataclass
class _Lookups:
    """The time-varying relations of a join, each looked up by the streams that it is joined to."""

    region: Region
    origins: Origins

    def placed(self) -> Plan:
        """The join, with lookups below windows."""
        inputs = self.region.inputs
        self._streams = {n: a for n, plan in enumerate(inputs) if (a := arrival_of(plan))}
        relations = [n for n, plan in enumerate(inputs) if is_changing(plan)]
        users = {number: self._users(number) for number in relations}
        if not any(users.values()):
            return self.region.rebuilt()
        self._pool = list(self.region.conjuncts)
        self._rows = {number: arrival.rows for number, arrival in self._streams.items()}
        for number, streams in users.items():
            for copy, stream in enumerate(streams):
                self._look_up(number, stream, copy)
        looked_up = {number for number, streams in users.items() if streams}
        plans = {
            number: self._streams[number].kept(self._rows[number])
            if number in self._streams
            else plan
            for number, plan in enumerate(inputs)
            if number not in looked_up
        }
        whole = Region(list(plans.values()), self._pool, self.region.schema)
        return whole.rebuilt()

    def _users(self, relation: int) -> list[int]:
        """The streams that look a relation up: those that a condition compares with it."""
        own = set(self.region.inputs[relation].schema.names)
        parts = [part for part in self.region.conjuncts if part.columns & own]
        linked = [
            number
            for number, plan in enumerate(self.region.inputs)
            if number != relation and any(part.columns & set(plan.schema.names) for part in parts)
        ]
        for number in linked:
            if isinstance(self.region.inputs[number], CountWindow | SessionWindow):
                raise _no_arrival(self.region.inputs[number], self.origins)
        if not linked:
            return list(self._streams)  # all of them, in a join without condition
        return [number for number in linked if number in self._streams]

    def _look_up(self, relation: int, stream: int, copy: int) -> None:
        plan, version = with_version(self.region.inputs[relation])
        names = plan.schema.names
        new = {name: f"#{stream}.{name}" if copy else name for name in names}
        if copy:
            plan = Project.renaming(plan, tuple(new.values()))
            first, again = (column(n, plan.schema[new[version]]) for n in (version, new[version]))
        rows = self._rows[stream]
        taken = [
            part
            for part in self._pool
            if is_equality(part)
            and part.columns & set(names)
            and part.columns <= {*names, *rows.schema.names}
        ]
        self._pool = [part for part in self._pool if part not in taken]
        condition = conjunction(*(part.rename(new) for part in taken))
        self._rows[stream] = Join(rows, plan, condition)
        if copy:
            self._pool.append(equality(first, again))


def with_version(plan: Plan) -> tuple[Plan, str]:
    """A time-varying relation with the column that tells its rows apart, and its name."""
    if (known := version_column(plan)) is not None:
        return plan, known
    assert isinstance(plan, Filter | Project)
    child, name = with_version(plan.child)
    if isinstance(plan, Project):
        item = (name, column(name, child.schema[name]))
        return replace(plan, child=child, items=(*plan.items, item)), name
    return replace(plan, child=child), name


def _no_arrival(window: Plan, origins: Origins) -> Exception:
    counts = isinstance(window, CountWindow)
    kind, done = ("count", "counted") if counts else ("session", "put into sessions")
    message = f"a {kind} window and a time-varying relation cannot be joined: its rows are {done}"
    message += " before they look the relation up"
    node = origins.get(window)
    if node is None:
        return UnsupportedError(message, help=_COUNT_HELP)
    return error_at(UnsupportedError, message, node, _COUNT_HELP)


def _several_streams(condition: Scalar | None, test: SemiJoin | AntiJoin) -> Exception:
    message = "a subquery over a time-varying relation must be about one stream"
    help = "compare columns of one stream with it, or join the relation in FROM"
    if condition is None:
        return UnsupportedError(message, help=help)
    return error_at(UnsupportedError, message, condition.node, help)
