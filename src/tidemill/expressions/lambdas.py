"""Functions that take a function: `transform(tags, t -> upper(t))`.

DuckDB has lambdas too. Their variables get names that no column has, since DuckDB would take a
variable for a column of its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.translate import Rule, Translator, name_of_node
from tidemill.expressions.typed import (
    BOOLEAN,
    INT,
    NULL,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
)


def _function(node: exp.Expr | None, call: exp.Expr, counts: Sequence[int]) -> exp.Lambda:
    """An argument that is a function, of so many variables."""
    if not isinstance(node, exp.Lambda):
        help = f"write for example {name_of_node(call).lower()}(items, item -> item + 1)"
        raise TypeMismatch(f"`{_name(call)}` takes a function", node or call, help)
    if len(node.expressions) not in counts:
        wanted = " or ".join(map(str, counts))
        message = f"the function has {len(node.expressions)} variables, not {wanted}"
        raise TypeMismatch(message, node, "write (x, y) -> x + y for two of them")
    return node


def _name(call: exp.Expr) -> str:
    return call.name if isinstance(call, exp.Anonymous) else name_of_node(call)


def _array(parts: Translator, node: exp.Expr, call: exp.Expr) -> Typed:
    found = parts.of(node)
    if not pa.types.is_list(found.type):
        raise does_not_take(_name(call), [found.type], call)
    return found


def _map(parts: Translator, node: exp.Expr, call: exp.Expr) -> Typed:
    found = parts.of(node)
    if not pa.types.is_map(found.type):
        raise does_not_take(_name(call), [found.type], call)
    return found


def _over_elements(
    parts: Translator, array: Typed, function: exp.Lambda, call: exp.Expr
) -> tuple[str, Typed]:
    """The variables of a function of an element, and perhaps its place, and what it makes."""
    names = parts.fresh_names(function)
    values = [Typed(names[0], array.type.value_type, function)]
    if len(names) > 1:  # DuckDB counts from 1
        values.append(Typed(f"CAST({names[1]} - 1 AS INT)", INT, function))
    body = parts.inside(function, values)
    if body.type == NULL:
        raise NotSupported(
            "a function that gives nothing but NULL", call, "cast it: CAST(NULL AS INT)"
        )
    return ", ".join(names), body


def _condition(body: Typed, call: exp.Expr) -> Typed:
    if body.type != BOOLEAN:
        raise TypeMismatch(f"`{_name(call)}` takes a condition", call, "write item -> item > 1")
    return body


def _transformed(parts: Translator, node: exp.Expr) -> Typed:
    array = _array(parts, node.this, node)
    function = _function(node.expression, node, (1, 2))
    names, body = _over_elements(parts, array, function, node)
    return Typed(
        f"list_transform({array.sql}, lambda {names}: {body.sql})", pa.list_(body.type), node
    )


def _filtered(parts: Translator, node: exp.Expr) -> Typed:
    array = _array(parts, node.this, node)
    function = _function(node.expression, node, (1, 2))
    names, body = _over_elements(parts, array, function, node)
    test = _condition(body, node).sql
    return Typed(f"list_filter({array.sql}, lambda {names}: {test})", array.type, node)


def _decided(parts: Translator, given: Sequence[exp.Expr], node: exp.Expr, wanted: bool) -> Typed:
    """EXISTS (one is true) and FORALL (none is false): NULL, if a NULL leaves it open."""
    if len(given) != 2:
        raise does_not_take(_name(node), [parts.of(each).type for each in given[:1]], node)
    array = _array(parts, given[0], node)
    names, body = _over_elements(parts, array, _function(given[1], node, (1,)), node)
    test = _condition(body, node).sql
    found = f"len(list_filter({array.sql}, lambda {names}: {{}}))"
    decisive = found.format(f"({test})" if wanted else f"NOT ({test})")
    opened = found.format(f"({test}) IS NULL")
    sql = (
        f"CASE WHEN {decisive} > 0 THEN {wanted} WHEN {opened} > 0 THEN NULL"
        f" WHEN {array.sql} IS NOT NULL THEN {not wanted} END"
    )
    return Typed(sql, BOOLEAN, node)


def _exists(parts: Translator, node: exp.Expr) -> Typed:
    return _decided(parts, node.expressions, node, True)


def _forall(parts: Translator, node: exp.Expr) -> Typed:
    return _decided(parts, node.expressions, node, False)


def _reduced(parts: Translator, node: exp.Expr) -> Typed:
    array, start = _array(parts, node.this, node), parts.of(node.args["initial"])
    kind = array.type.value_type
    if start.type != kind:
        help = "cast the first value, or transform the list before"
        message = f"`{_name(node)}` from another type than that of the elements"
        raise NotSupported(message, node, help)
    function = _function(node.args.get("merge"), node, (2,))
    names = parts.fresh_names(function)
    body = parts.inside(function, [Typed(name, kind, function) for name in names])
    if body.type != kind:
        raise does_not_take(_name(node), [kind, body.type], node)
    text = f"lambda {', '.join(names)}: {body.sql}"
    sql = f"list_reduce({array.sql}, {text}, {start.sql})"
    if (finish := node.args.get("finish")) is None:
        return Typed(sql, kind, node)
    return replace(parts.inside(_function(finish, node, (1,)), [Typed(sql, kind, node)]), node=node)


def _zipped(parts: Translator, node: exp.Expr) -> Typed:
    if len(node.expressions) != 3:
        raise does_not_take(_name(node), [], node)
    one, other, third = node.expressions
    arrays = [_array(parts, each, node) for each in (one, other)]
    function = _function(third, node, (2,))
    pair = parts.fresh_names(function)[0]
    values = [
        Typed(f"{pair}[{place}]", array.type.value_type, function)
        for place, array in enumerate(arrays, start=1)
    ]
    body = parts.inside(function, values)
    zipped = f"list_zip({arrays[0].sql}, {arrays[1].sql})"
    known = f"{arrays[0].sql} IS NOT NULL AND {arrays[1].sql} IS NOT NULL"
    sql = f"CASE WHEN {known} THEN list_transform({zipped}, lambda {pair}: {body.sql}) END"
    return Typed(sql, pa.list_(body.type), node)


def _of_entries(parts: Translator, node: exp.Expr) -> tuple[Typed, str, Typed]:
    """A map, the variable for one of its entries, and what a function of that makes."""
    if len(node.expressions) != 2:
        raise does_not_take(_name(node), [], node)
    found, given = node.expressions
    whole, function = _map(parts, found, node), _function(given, node, (2,))
    entry = parts.fresh_names(function)[0]
    values = [
        Typed(f"struct_extract({entry}, 'key')", whole.type.key_type, function),
        Typed(f"struct_extract({entry}, 'value')", whole.type.item_type, function),
    ]
    return whole, entry, parts.inside(function, values)


def _map_filtered(parts: Translator, node: exp.Expr) -> Typed:
    whole, entry, body = _of_entries(parts, node)
    test = _condition(body, node).sql
    kept = f"list_filter(map_entries({whole.sql}), lambda {entry}: {test})"
    return Typed(f"CAST(map_from_entries({kept}) AS {duckdb_type(whole.type)})", whole.type, node)


def _map_transformed(parts: Translator, node: exp.Expr) -> Typed:
    whole, entry, body = _of_entries(parts, node)
    kind = pa.map_(whole.type.key_type, body.type)
    made = f"list_transform(map_entries({whole.sql}), lambda {entry}: {body.sql})"
    found = f"CAST(map(map_keys({whole.sql}), {made}) AS {duckdb_type(kind)})"
    return Typed(f"CASE WHEN {whole.sql} IS NOT NULL THEN {found} END", kind, node)


NAMED: dict[str, Rule] = {
    "exists": _exists,
    "forall": _forall,
    "zip_with": _zipped,
    "map_filter": _map_filtered,
    "transform_values": _map_transformed,
}

RULES: dict[type[exp.Expr], Rule] = {
    exp.Transform: _transformed,
    exp.ArrayFilter: _filtered,
    exp.Reduce: _reduced,
}
