"""Hints of a query block: which streams, columns and conditions do they mean?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from sqlglot import exp

from tidemill.algebra import Scan, SourceKind
from tidemill.algebra.origin import origin_of
from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import has_subquery
from tidemill.catalog.catalog import SourceInfo
from tidemill.catalog.hints import Hints
from tidemill.errors import PlanError, UnsupportedError, nearest
from tidemill.sql import UNIT_MICROS, HintCall, error_at
from tidemill.timeline import TimeDomain

Key = TypeVar("Key")


def read_hints(select: exp.Select, stage: PlanStage) -> None:
    """Add the hints of a block, whose rows are planned, to what is known about the query."""
    if (hint := select.args.get("hint")) is None:
        return
    reader = _Reader(stage)
    for call in hint.expressions:
        reader.take(call)
    stage.context.hints = stage.context.hints.under(reader.hints())


@dataclass
class _Reader:
    stage: PlanStage
    rates: dict[str, float] = field(default_factory=dict)
    rows: dict[str, float] = field(default_factory=dict)
    distinct: dict[tuple[str, str], float] = field(default_factory=dict)
    selectivities: dict[str, float] = field(default_factory=dict)
    order: tuple[str, ...] | None = None
    early: frozenset[str] | None = None
    late: bool = False
    rank: str | None = None

    def hints(self) -> Hints:
        return Hints(
            self.rates,
            self.rows,
            self.distinct,
            self.selectivities,
            self.order,
            self.early,
            self.late,
            self.rank,
        )

    def take(self, call: HintCall) -> None:
        """Add one hint."""
        take: Callable[[HintCall], None] = getattr(self, f"_{call.text('kind').lower()}")
        take(call)

    def _rate(self, call: HintCall) -> None:
        info = self._source(call)
        if info.kind is SourceKind.CONSTANT:
            help = f"write ROWS({info.name}, ...)"
            raise error_at(PlanError, f"`{info.name}` is constant and has no rate", call, help)
        unit = call.args.get("unit")
        if unit is not None and info.domain is TimeDomain.TICKS:
            message = f"`{info.name}` has integer time, which has no units"
            raise error_at(PlanError, message, unit, "leave out PER: rows per instant are meant")
        ticks = info.domain is TimeDomain.TICKS
        per = 1 if ticks else UNIT_MICROS[unit.name if unit else "SECOND"]
        _put(self.rates, info.name, _value(call) / per, call)

    def _rows(self, call: HintCall) -> None:
        info = self._source(call)
        if info.kind is SourceKind.STREAM:
            message = f"`{info.name}` is a stream: its rows never end"
            raise error_at(PlanError, message, call, f"write RATE({info.name}, ...)")
        _put(self.rows, info.name, _value(call), call)

    def _distinct(self, call: HintCall) -> None:
        (column,) = call.expressions
        bound = self._own_scope.resolve(column)
        found = origin_of(self.stage.plan, bound.name) if isinstance(bound, exp.Column) else None
        if found is None:
            message = f"`{column.sql()}` is computed: DISTINCT takes columns of streams"
            help = "name the column of the stream that it is computed from, in its subquery"
            raise error_at(PlanError, message, column, help)
        _put(self.distinct, found, _value(call), call)

    def _selectivity(self, call: HintCall) -> None:
        (node,) = call.expressions
        if has_subquery(node):
            help = "tell it about conditions without subqueries"
            raise error_at(UnsupportedError, "SELECTIVITY takes no subqueries", node, help)
        own = PlanStage(self.stage.context, self.stage.plan, self._own_scope)
        condition = own.condition(own.bind(node, "SELECTIVITY"), "SELECTIVITY")
        self.stage.context.told_of[str(condition)] = node
        _put(self.selectivities, str(condition), _value(call), call)

    def _order(self, call: HintCall) -> None:
        self.stage.context.decide("ORDER", call)
        names = [self._item(node).prefix for node in call.expressions]
        _refuse_twice(names, call)
        self.order = tuple(names)

    def _early(self, call: HintCall) -> None:
        self.stage.context.decide("EARLY", call)
        names = [self._item(node).prefix for node in call.expressions]
        _refuse_twice(names, call)
        self.early = frozenset(names)

    def _late(self, call: HintCall) -> None:
        self.stage.context.decide("EARLY", call)
        self.late = True

    def _rank(self, call: HintCall) -> None:
        self.stage.context.decide("RANK", call)
        self.rank = call.expressions[0].name

    @property
    def _own_scope(self) -> Scope:
        """The names of this block, without those around it."""
        return Scope(self.stage.scope.items, None, self.stage.scope.merged)

    def _source(self, call: HintCall) -> SourceInfo:
        """The source behind the entry of FROM that a hint is about."""
        (node,) = call.expressions
        item = self._item(node, same_source=True)
        info = self.stage.context.catalog.find(item.source or "")
        if info is None:
            kind = call.text("kind")
            message = f"`{item.alias}` is computed: {kind} takes streams that come from outside"
            read = sorted({scan.source for scan in item.plan.walk() if isinstance(scan, Scan)})
            help = f"it reads {', '.join(read)}: write the hint where they are read"
            raise error_at(PlanError, message, node, help)
        assert isinstance(info, SourceInfo)
        return info

    def _item(self, node: exp.Identifier, same_source: bool = False) -> Item:
        """The entry of FROM with that alias, or else the only one of the stream of that name."""
        if (item := self.stage.scope.item(node.name)) is not None:
            return item
        items, wanted = self.stage.scope.items, node.name.casefold()
        named = [item for item in items if (item.source or "").casefold() == wanted]
        if not named:
            aliases = [item.alias for item in items]
            near = nearest(node.name, aliases)
            help = f"did you mean `{near}`? " if near else ""
            help += f"FROM has: {', '.join(aliases)}"
            raise error_at(PlanError, f"unknown stream or alias `{node.name}`", node, help)
        if len(named) > 1 and not same_source:
            choices = " or ".join(f"`{item.alias}`" for item in named)
            message = f"`{node.name}` appears {len(named)} times in FROM"
            raise error_at(PlanError, message, node, f"write {choices}")
        return named[0]


def _value(call: HintCall) -> float:
    return float(call.args["value"].name)


def _put(known: dict[Key, float], key: Key, value: float, call: HintCall) -> None:
    if known.setdefault(key, value) != value:
        message = f"{call.text('kind')} is given twice, as {known[key]:g} and as {value:g}"
        raise error_at(PlanError, message, call, "remove one of the two")


def _refuse_twice(names: Iterable[str], call: HintCall) -> None:
    seen: set[str] = set()
    for name, node in zip(names, call.expressions, strict=True):
        if name in seen:
            raise error_at(
                PlanError, f"`{node.name}` is named twice", node, "remove one of the two"
            )
        seen.add(name)
