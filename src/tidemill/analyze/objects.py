"""OBJECTS(a, b BY id): one row per object and instant, with what several streams tell about it.

It stands for a plain query: the streams are united, windowed and grouped by the object; each
column of a stream is summed up on its own, and is the least value of its range where the object
has no row in that stream.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import (
    Aggregate,
    AggregateCall,
    Filter,
    Plan,
    Project,
    Range,
    Recurrence,
    Scalar,
    Scan,
    Schema,
    Union,
    column,
)
from tidemill.algebra.aggregates import result_type
from tidemill.algebra.intervals import interval_in
from tidemill.algebra.promises import present
from tidemill.algebra.schema import Field
from tidemill.algebra.types import is_numeric, name_of
from tidemill.analyze.boundedness import validity
from tidemill.analyze.context import Context
from tidemill.analyze.joins import Entry
from tidemill.analyze.scope import Item
from tidemill.analyze.trees import cast, typed_null
from tidemill.analyze.windows import apply_clauses
from tidemill.errors import PlanError
from tidemill.sql import ObjectsClause, error_at

_USUAL: Final = Range(0, 1)
_EXAMPLE: Final = "as in OBJECTS(a, b BY id) WINDOW(RANGE 100)"


def plan_objects(node: exp.Table, items: list[Item], context: Context, select: exp.Expr) -> Entry:
    """The entry of FROM of a query block; `items` are its streams."""
    objects = node.this
    assert isinstance(objects, ObjectsClause)
    if node.args.get("stream_window") is None:
        raise error_at(PlanError, "OBJECTS needs a window", objects, _EXAMPLE)
    return _Objects(node, objects, items, context, _Names(select, node)).entry()


@dataclass(frozen=True)
class _Attribute:
    """A column of one of the streams, and its range."""

    stream: int
    name: str
    plan_name: str
    type: pa.DataType
    low: float


class _Names:
    """The columns that a query block names, besides what it names inside of OBJECTS(...)."""

    def __init__(self, select: exp.Expr, objects: exp.Table) -> None:
        self._named = set[tuple[str, str]]()
        self._all = any(isinstance(each, exp.Star) for each in select.expressions)
        for part in select.walk(prune=lambda part: part is objects):
            if isinstance(part, exp.Column):
                self._named.add((part.table.casefold(), part.name.casefold()))
                self._all |= isinstance(part.this, exp.Star)

    def mention(self, alias: str, name: str) -> bool:
        """Whether a column may be meant by a name, with or without the alias."""
        wanted = {(table, name.casefold()) for table in ("", alias.casefold())}
        return self._all or bool(wanted & self._named)

    def qualify(self, alias: str, name: str) -> bool:
        """Whether a column is named with the alias."""
        return (alias.casefold(), name.casefold()) in self._named


@dataclass
class _Objects:
    node: exp.Table
    objects: ObjectsClause
    items: list[Item]
    context: Context
    names: _Names

    def entry(self) -> Entry:
        for item in self.items:
            self._check_stream(item)
        self._keys = [self._key(name) for name in self.objects.args["by"]]
        self._rows = [self._held(item) for item in self.items]
        self._attributes = [each for number in range(len(self.items)) for each in self._of(number)]
        united = reduce(Union, [self._united(number) for number in range(len(self.items))])
        whole = Item(self._alias, self._alias, united, united.schema, self.node)
        windowed = apply_clauses(whole, self.node, self.context)
        return self._entry(self._valued(windowed.plan))

    @property
    def _alias(self) -> str:
        return self.node.alias or "objects"

    def _check_stream(self, item: Item) -> None:
        if item.is_windowed or not validity(item.plan).instant:
            message = f"`{item.alias}` has its own window"
            help = "the window stands behind OBJECTS(...), for all streams together"
            raise error_at(PlanError, message, item.node, help)

    def _key(self, name: exp.Identifier) -> str:
        """A column that all streams have, with one type."""
        types: dict[str, pa.DataType] = {}
        for item in self.items:
            if (found := item.match(name.name)) is None:
                help = f"columns: {', '.join(item.visible)}"
                message = f"stream `{item.alias}` has no column `{name.name}`"
                raise error_at(PlanError, message, name, help)
            types[item.alias] = item.columns[found]
        if len(set(types.values())) > 1:
            shown = ", ".join(f"{alias}: {name_of(kind)}" for alias, kind in types.items())
            message = f"`{name.name}` has different types in the streams"
            raise error_at(PlanError, message, name, f"CAST it in a subquery ({shown})")
        return str(self.items[0].match(name.name))

    def _held(self, item: Item) -> Plan:
        """The rows of a stream; objects come once, unless the stream says otherwise."""
        keys = tuple(str(item.match(key)) for key in self._keys)
        return _once(item.plan, tuple(item.plan_column(key) for key in keys))

    def _of(self, number: int) -> list[_Attribute]:
        """The numbers of a stream that the query names."""
        item = self.items[number]
        keys = {str(item.match(key)) for key in self._keys}
        found = []
        for name in item.visible:
            kind = item.columns[name]
            if name in keys or not self.names.mention(item.alias, name):
                continue
            if not is_numeric(kind):
                if not self.names.qualify(item.alias, name):
                    continue
                message = f"`{item.alias}.{name}` is {name_of(kind)}: OBJECTS adds up numbers"
                raise error_at(PlanError, message, item.node, "leave the column out")
            plan_name = item.plan_column(name)
            kind = pa.float64() if pa.types.is_floating(kind) else kind
            low = self._limits(number, plan_name).low
            found.append(_Attribute(number, name, plan_name, kind, low))
        return found

    def _limits(self, number: int, name: str) -> Range:
        found = interval_in(self._rows[number], name)
        return Range(found.low, found.high) if found and found.is_known else _USUAL

    def _united(self, number: int) -> Plan:
        """The rows of a stream with columns for those of all others."""
        item, rows = self.items[number], self._rows[number]
        columns = []
        for key in self._keys:
            name = str(item.match(key))
            value = column(item.plan_column(name), item.columns[name])
            columns.append((key, present(value, f"{item.source or item.alias}.{name}")))
        for each in self._attributes:
            empty = Scalar(typed_null(each.type), each.type)
            own = each.stream == number
            columns.append((each.plan_name, self._value(each, rows) if own else empty))
        return Project(rows, tuple(columns))

    def _value(self, each: _Attribute, rows: Plan) -> Scalar:
        value = column(each.plan_name, rows.schema[each.plan_name])
        if value.type != each.type:
            value = Scalar(cast(value.node.copy(), each.type), each.type)
        found = interval_in(rows, each.plan_name)
        if found is not None and found.is_known:
            return value
        item = self.items[each.stream]
        return _USUAL.held(value, f"{item.source or item.alias}.{each.name}")

    def _valued(self, window: Plan) -> Plan:
        """One row for each object, with a value for each column."""
        calls = tuple(
            AggregateCall(f"#sum.{a.plan_name}", "SUM", a.plan_name, result_type("SUM", a.type))
            for a in self._attributes
        )
        grouped = Aggregate(window, tuple(self._keys), calls)
        values = [(f"{self._alias}.{key}", column(key, window.schema[key])) for key in self._keys]
        for item, key in self._named_keys():
            values.append((item.plan_column(key), column(key, window.schema[key])))
        for each, call in zip(self._attributes, calls, strict=True):
            least = cast(exp.Literal.number(f"{each.low:.17g}"), call.type)
            total = column(call.name, call.type).node
            value = exp.Coalesce(this=total, expressions=[least])
            values.append((each.plan_name, Scalar(value, call.type)))
        return Project(grouped, tuple(values))

    def _entry(self, plan: Plan) -> Entry:
        fields = tuple(Field(key, plan.schema[f"{self._alias}.{key}"]) for key in self._keys)
        found = [Item(self._alias, self._alias, plan, Schema(fields), self.node)]
        for number, item in enumerate(self.items):
            own = [a.name for a in self._attributes if a.stream == number]
            keys = [key for each, key in self._named_keys() if each is item]
            fields = tuple(Field(n, plan.schema[item.plan_column(n)]) for n in (*own, *keys))
            columns, hidden = Schema(fields), frozenset(keys)
            found.append(Item(item.alias, item.prefix, plan, columns, item.node, hidden))
        return Entry(plan, [replace(each, is_windowed=True) for each in found], {})

    def _named_keys(self) -> list[tuple[Item, str]]:
        """Columns of the object that are named as those of a stream."""
        pairs = [(item, key) for item in self.items for key in self._keys]
        return [(item, key) for item, key in pairs if self.names.qualify(item.alias, key)]


def _once(plan: Plan, keys: tuple[str, ...]) -> Plan:
    """The plan with the usual promise at its source, if there is one source and no promise."""
    if isinstance(plan, Scan):
        names = {f"{plan.alias}.{field.name}": field.name for field in plan.columns}
        if plan.recurs is not None or not all(key in names for key in keys):
            return plan
        return replace(plan, recurs=Recurrence(1, tuple(names[key] for key in keys)))
    if isinstance(plan, Project):
        items = dict(plan.items)
        if not all(items[key].is_column for key in keys):
            return plan
        return replace(plan, child=_once(plan.child, tuple(items[k].node.name for k in keys)))
    return replace(plan, child=_once(plan.child, keys)) if isinstance(plan, Filter) else plan
