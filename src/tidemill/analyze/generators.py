"""Functions that make rows of a list or a map: UNNEST, EXPLODE, POSEXPLODE and INLINE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Field, Plan, Project, Scalar, Schema, Unnest, column
from tidemill.algebra.scalar import column_node
from tidemill.algebra.types import name_of
from tidemill.analyze.functions import name_of_call
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import written
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at

_EXPLODE: Final = (exp.Explode, exp.Inline)
_POSITIONS: Final = (exp.Posexplode,)
_OUTER: Final = {"EXPLODE_OUTER", "POSEXPLODE_OUTER", "INLINE_OUTER"}
_SPARK: Final = (*_EXPLODE, *_POSITIONS)
_PLACE, _ORDINALITY = "pos", "ordinality"

_Making = Callable[[str], exp.Expr]
_Part = tuple[str, _Making, pa.DataType]
"""A new column: its usual name, how it follows from the element, and its type."""


@dataclass(frozen=True)
class Generator:
    """A call: the list, what its place is called, if it is asked for, and what happens to none.

    `fields` tells that elements are structs, whose fields become columns.
    """

    call: exp.Expr
    values: exp.Expr
    place: str | None = None
    outer: bool = False
    fields: bool = False
    names: tuple[str, ...] = ()
    alias: str = ""


def is_generator(node: exp.Expr) -> bool:
    """Whether an expression makes several rows of one."""
    node = node.this if isinstance(node, exp.Lateral | exp.Table) else node
    return isinstance(node, (exp.Unnest, *_SPARK)) or _is_inline_outer(node)


def with_values(call: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The call with another list, or the list in another form."""
    copy = call.copy()
    generator = read_generator(copy)
    generator.values.replace(change(generator.values))
    return copy


def _is_inline_outer(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "INLINE_OUTER"


def read_generator(node: exp.Expr) -> Generator:
    """The generator of an entry of FROM, a LATERAL VIEW or the select list."""
    call = node.this if isinstance(node, exp.Lateral | exp.Table) else node
    is_unnest = isinstance(call, exp.Unnest)
    arguments = call.expressions if is_unnest or _is_inline_outer(call) else [call.this]
    arguments = arguments if is_unnest else [*arguments, *(call.args.get("expressions") or [])]
    if len(set(map(id, arguments))) != 1:
        message = f"{_name(call)} takes one array or map"
        raise error_at(UnsupportedError, message, call, "join two calls, one behind the other")
    found = Generator(
        call,
        arguments[0],
        place=_place(node, call),
        outer=bool(node.args.get("outer")) or _name(call) in _OUTER,
        fields=isinstance(call, exp.Inline) or _is_inline_outer(call),
    )
    return _named(found, node)


def _place(node: exp.Expr, call: exp.Expr) -> str | None:
    if isinstance(call, _POSITIONS):
        return _PLACE
    offset = call.args.get("offset") or node.args.get("ordinality")
    return _ORDINALITY if offset else None


def _name(call: exp.Expr) -> str:
    return name_of_call(call).upper() if not isinstance(call, exp.Unnest) else "UNNEST"


def _named(found: Generator, node: exp.Expr) -> Generator:
    """With the names of `AS u(x, n)`; the parser takes the last one for the place."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return found
    names = [part.name for part in alias.args.get("columns") or ()]
    offset = found.call.args.get("offset")
    if isinstance(offset, exp.Identifier):
        names.append(offset.name)
    if isinstance(found.call, exp.Unnest) and not names and found.place is None and alias.name:
        names = [alias.name]  # UNNEST(list) AS x: the rows and their only column
    return replace(found, names=tuple(names), alias=alias.name)


@dataclass(frozen=True)
class Elements:
    """What a generator makes of every row: columns of a plan, and what users call them."""

    unnest: Unnest
    items: tuple[tuple[str, Scalar], ...]
    columns: Schema

    def over(self, plan: Plan, kept: tuple[str, ...] | None = None) -> Plan:
        """The rows of a plan with the new columns beside those that are kept."""
        names = plan.schema.names if kept is None else kept
        needed = [*names, *(n for n in self._reads if n not in names)]
        made = replace(self.unnest, child=plan, kept=tuple(needed))
        if all(scalar.is_column and scalar.node.name == name for name, scalar in self.items):
            return made
        own = tuple((name, column(name, plan.schema[name])) for name in names)
        return Project(made, own + self.items)

    @property
    def _reads(self) -> list[str]:
        """Columns of the row that the new ones are computed from."""
        used = {name for _, scalar in self.items for name in scalar.columns}
        return sorted(used - set(self.unnest.made.names))


def elements_of(generator: Generator, values: exp.Expr, stage: PlanStage, prefix: str) -> Elements:
    """What a generator makes of a bound list; columns of the plan are `prefix.name`."""
    scalar = stage.scalar(values)
    if pa.types.is_map(scalar.type):
        return _of_map(generator, scalar, stage, prefix)
    if not pa.types.is_list(scalar.type):
        takes = "an array of structs" if generator.fields else "an array or a map"
        message = f"{_name(generator.call)} takes {takes}"
        message += f", but `{written(generator.values)}` is {name_of(scalar.type)}"
        raise error_at(PlanError, message, generator.values, "SPLIT makes an array of a text")
    kind = scalar.type.value_type
    if generator.fields or _spreads(generator, kind):
        return _of_structs(generator, scalar, stage, prefix)
    return _made(generator, scalar, stage, prefix, [("col", column_node, kind)])


def _spreads(generator: Generator, kind: pa.DataType) -> bool:
    """Whether UNNEST has as many names as its structs have fields."""
    wanted = len(generator.names) - (generator.place is not None)
    is_unnest = isinstance(generator.call, exp.Unnest)
    return is_unnest and wanted > 1 and pa.types.is_struct(kind) and kind.num_fields == wanted


def _of_structs(g: Generator, values: Scalar, stage: PlanStage, prefix: str) -> Elements:
    kind = values.type.value_type
    if not pa.types.is_struct(kind):
        message = f"{_name(g.call)} takes an array of structs, but this is {name_of(values.type)}"
        raise error_at(PlanError, message, g.values, "write EXPLODE for an array of other values")

    def field(name: str) -> _Making:
        quoted = exp.to_identifier(name, quoted=True)
        return lambda element: exp.Dot(this=column_node(element), expression=quoted.copy())

    return _made(g, values, stage, prefix, [(f.name, field(f.name), f.type) for f in kind])


def _of_map(g: Generator, values: Scalar, stage: PlanStage, prefix: str) -> Elements:
    """The keys as elements; each finds its value in the map."""
    if g.fields:
        message = f"{_name(g.call)} takes an array of structs, but this is {name_of(values.type)}"
        raise error_at(PlanError, message, g.values, "write EXPLODE for a map")
    keys = Scalar(exp.MapKeys(this=values.node.copy()), pa.list_(values.type.key_type))

    def value(key: str) -> exp.Expr:
        return exp.Bracket(this=values.node.copy(), expressions=[column_node(key)])

    kinds: list[_Part] = [
        ("key", column_node, values.type.key_type),
        ("value", value, values.type.item_type),
    ]
    return _made(g, keys, stage, prefix, kinds)


def _made(
    g: Generator, values: Scalar, stage: PlanStage, prefix: str, parts: Sequence[_Part]
) -> Elements:
    """The columns, under the names that were given, or those of Spark."""
    usual = [name for name, _, _ in parts]
    if isinstance(g.call, exp.Unnest) and len(parts) == 1:
        usual = ["unnest"]
    if g.place is not None:
        usual.insert(0 if g.place == _PLACE else len(usual), g.place)
    names = _given(g, usual)
    place = None if g.place is None else names.pop(usual.index(g.place))
    plain = len(parts) == 1 and parts[0][1] is column_node
    element = f"{prefix}.{names[0]}" if plain else stage.context.fresh("element")
    ordinal, number = _ordinal(g, place, prefix, stage)
    items = [(n, Scalar(make(element), k)) for n, (_, make, k) in zip(names, parts, strict=True)]
    if place is not None and number is not None:
        items.insert(0 if g.place == _PLACE else len(items), (place, number))
    unnest = Unnest(stage.plan, values, element, ordinal, g.outer)
    columns = Schema(tuple(Field(name, scalar.type) for name, scalar in items))
    return Elements(unnest, tuple((f"{prefix}.{name}", each) for name, each in items), columns)


def _ordinal(
    g: Generator, name: str | None, prefix: str, stage: PlanStage
) -> tuple[str | None, Scalar | None]:
    """The column of the place in the plan, and what the user sees of it: Spark counts from 0."""
    if name is None:
        return None, None
    if g.place == _ORDINALITY:
        return f"{prefix}.{name}", column(f"{prefix}.{name}", pa.int64())
    ordinal = stage.context.fresh("ordinal")
    before = exp.Sub(this=column_node(ordinal), expression=exp.Literal.number(1))
    return ordinal, Scalar(exp.cast(before, "INT"), pa.int32())


def _given(g: Generator, usual: list[str]) -> list[str]:
    names = list(g.names) or usual
    if len(names) != len(usual):
        message = f"{_name(g.call)} makes {len(usual)} columns here, but has {len(names)} names"
        raise error_at(PlanError, message, g.call, f"columns: {', '.join(usual)}")
    if len({name.casefold() for name in names}) < len(names):
        message = f"{_name(g.call)} has two columns of one name"
        raise error_at(PlanError, message, g.call, f"columns: {', '.join(usual)}")
    return names
