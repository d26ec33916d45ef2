"""SHED TO: a join of streams through a relation, with a bound on the rows that it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import (
    Filter,
    Plan,
    Policy,
    Project,
    Scalar,
    Shedding,
    SourceKind,
    StarJoin,
    TimeWindow,
    column,
)
from tidemill.algebra.relations import relation_scan
from tidemill.analyze.arrivals import Arrival, arrival_of
from tidemill.analyze.region import Region, region_of
from tidemill.analyze.scope import Item
from tidemill.analyze.stage import PlanStage, with_column
from tidemill.analyze.trees import columns_of, outside_subqueries
from tidemill.errors import PlanError
from tidemill.expressions.equality import equality_of
from tidemill.sql import Shed, error_at

_EXAMPLE: Final = "FROM r WINDOW(RANGE 50), f, s WINDOW(RANGE 50) WHERE r.a = f.a AND f.b = s.b"
_RELATIONS: Final = (SourceKind.CONSTANT, SourceKind.CHANGING)


def bound_memory(stage: PlanStage, select: exp.Select) -> None:
    """Give the join of a block its bound, and IMPORTANCE() in the block its meaning."""
    shed = select.args.get("shed")
    if shed is None:
        return
    star = _Star(stage, region_of(stage.plan), shed)
    stage.plan = star.plan()
    for node in list(select.expressions):
        for call in list(outside_subqueries(node)):
            if isinstance(call, exp.Anonymous) and call.name.upper() == "IMPORTANCE":
                call.replace(star.importance())


@dataclass
class _Part:
    """A stream of the star: its rows as they arrive, its window, and its keys."""

    item: Item
    arrival: Arrival
    rows: Plan
    mine: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    importance: exp.Expr | None = None
    written: exp.Expr | None = None  # the importance, before names were resolved


@dataclass
class _Star:
    stage: PlanStage
    region: Region
    shed: Shed

    def plan(self) -> Plan:
        """The star join, with the columns of the region."""
        self._parts, self._relation_item, self._relation = self._inputs()
        conditions = tuple(self._place(part) for part in self.region.conjuncts)
        self._check_keys()
        self._read_importances()
        streams = [self._with_importance(number) for number in range(len(self._parts))]
        star = StarJoin(
            tuple(plan for plan, _ in streams),
            self._relation,
            tuple(tuple(part.mine) for part in self._parts),
            tuple(tuple(part.theirs) for part in self._parts),
            self._shedding(tuple(name for _, name in streams)),
            tuple(part for part in conditions if part is not None),
        )
        # A single stream looks the relation up and keeps nothing.
        plan = star.exact if len(streams) == 1 else star
        schema = self.region.schema
        return Project(plan, tuple((f.name, column(f.name, f.type)) for f in schema))

    def importance(self) -> exp.Expr:
        """The importance of a result: the least of its parts."""
        given = [part.written.copy() for part in self._parts if part.written is not None]
        if not given:
            return exp.Literal.number(1)
        return given[0] if len(given) == 1 else exp.Least(this=given[0], expressions=given[1:])

    def _inputs(self) -> tuple[list[_Part], Item, Plan]:
        parts, relations = [], []
        for plan in self.region.inputs:
            item = self._item(plan)
            scan = relation_scan(plan)
            if scan is not None and scan.kind in _RELATIONS:
                relations.append((item, plan))
            else:
                arrival = self._arrival(item, plan)
                parts.append(_Part(item, arrival, arrival.rows))
        if len(relations) != 1 or not parts:
            found = f"{len(relations)} relations and {len(parts)} streams"
            message = f"SHED needs a join of streams through one relation, found {found}"
            raise error_at(PlanError, message, self.shed, f"as in {_EXAMPLE}")
        return parts, *relations[0]

    def _item(self, plan: Plan) -> Item:
        names = set(plan.schema.names)
        for item in self.stage.scope.items:
            if names == set(item.plan.schema.names):
                return item
        message = "SHED bounds a join of streams and a relation in FROM, and this is more"
        raise error_at(PlanError, message, self.shed, f"as in {_EXAMPLE}")

    def _arrival(self, item: Item, plan: Plan) -> Arrival:
        arrival = arrival_of(plan)
        if arrival is not None and len(arrival.windows) == 1:
            (window,) = arrival.windows
            simple = isinstance(window, TimeWindow) and window.slide == 1 and not window.delay
            if simple and window.first is not None:
                return arrival
        message = f"`{item.alias}` needs a window of time, only with RANGE, to be shed from"
        raise error_at(PlanError, message, item.node, "as in r WINDOW(RANGE 50)")

    def _place(self, part: Scalar) -> Scalar | None:
        """Put a condition where it belongs; back comes what only results can be asked."""
        if part.columns <= set(self._relation.schema.names):
            self._relation = Filter(self._relation, part)
            return None
        for stream in self._parts:
            if part.columns <= set(stream.item.plan.schema.names):
                stream.rows = Filter(stream.rows, part)
                return None
        return None if any(self._is_key(part, stream) for stream in self._parts) else part

    def _is_key(self, part: Scalar, stream: _Part) -> bool:
        equality = equality_of(part, stream.rows.schema, self._relation.schema)
        if equality is None or equality.null_safe:
            return False
        stream.rows, mine = _named(stream.rows, equality.left, self.stage)
        self._relation, theirs = _named(self._relation, equality.right, self.stage)
        stream.mine.append(mine)
        stream.theirs.append(theirs)
        return True

    def _check_keys(self) -> None:
        relation = self._relation_item
        for part in self._parts:
            if not part.mine:
                message = f"`{part.item.alias}` is not compared with the relation"
                message += f" `{relation.alias}`"
                help = f"add WHERE {part.item.alias}.column = {relation.alias}.column"
                raise error_at(PlanError, message, part.item.node, help)

    def _read_importances(self) -> None:
        for node in self.shed.expressions:
            for part, written in self._owners(node):
                if part.importance is not None:
                    message = f"`{part.item.alias}` has two importances"
                    raise error_at(PlanError, message, node, "one expression for each stream")
                part.written, part.importance = written, self.stage.bind(written, "SHED")

    def _owners(self, node: exp.Expr) -> Iterator[tuple[_Part, exp.Expr]]:
        """The streams that an importance is about: a bare name, about all that have it."""
        if isinstance(node, exp.Column) and not node.table:
            owners = [part for part in self._parts if part.item.match(node.name)]
            if owners:
                yield from ((part, exp.column(node.name, part.item.alias)) for part in owners)
                return
        used = columns_of(self.stage.bind(node, "SHED"))
        owners = [part for part in self._parts if used <= set(part.item.plan.schema.names)]
        if not used or not owners:
            message = "an importance is about the rows of one stream"
            help = "use columns of one stream: BY r.importance, s.importance"
            raise error_at(PlanError, message, node, help)
        yield owners[0], node

    def _with_importance(self, number: int) -> tuple[Plan, str | None]:
        part = self._parts[number]
        if part.importance is None:
            return part.arrival.kept(part.rows), None
        around = PlanStage(self.stage.context, part.rows, self.stage.scope)
        value = around.scalar(part.importance)
        if not (pa.types.is_integer(value.type) or pa.types.is_floating(value.type)):
            value = around.scalar(exp.cast(part.importance, "DOUBLE"))
        elif value.is_column:
            return part.arrival.kept(part.rows), value.node.name
        name = f"#importance{number}"
        return part.arrival.kept(with_column(part.rows, name, value)), name

    def _shedding(self, importances: tuple[str | None, ...]) -> Shedding:
        given = {
            each.name: float(each.expression.name) for each in self.shed.args["parameters"] or ()
        }
        lives = [
            w.size for p in self._parts for w in p.arrival.windows if isinstance(w, TimeWindow)
        ]
        life = float(max(size for size in lives if size is not None))
        return Shedding(
            int(self.shed.args["rows"].name),
            importances,
            Policy[self.shed.text("policy")],
            given.get("ALPHA", life),
            given.get("BETA", 1 / life),
            int(given.get("SEED", 0)),
        )


def _named(plan: Plan, side: Scalar, stage: PlanStage) -> tuple[Plan, str]:
    """A plan with a column for one side of an equality."""
    if side.is_column:
        return plan, str(side.node.name)
    name = f"#{stage.context.fresh('key')}"
    return with_column(plan, name, side), name
