"""Arrays, maps and structs."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import common_type
from tidemill.expressions.duckdb_sql import duckdb_type, quoted
from tidemill.expressions.translate import Rule, Translator, name_of_node
from tidemill.expressions.typed import (
    BIGINT,
    BOOLEAN,
    INT,
    NULL,
    STRING,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
    quoted_text,
    stop,
)  # fmt: skip


def _array(parts: Translator, node: exp.Expr) -> Typed:
    if not node.expressions:
        raise NotSupported(
            "an array without elements", node, "say of what: CAST(ARRAY() AS ARRAY<INT>)"
        )
    values, shared = parts.together(node.expressions, node)
    sql = f"CAST([{', '.join(value.sql for value in values)}] AS {duckdb_type(pa.list_(shared))})"
    return Typed(sql, pa.list_(shared), node)


def _map(parts: Translator, node: exp.Expr) -> Typed:
    keys, values = node.args["keys"], node.args["values"]
    if not isinstance(keys, exp.Array) or not isinstance(values, exp.Array) or not keys.expressions:
        raise NotSupported("this way to make a map", node, "write MAP(key, value, ...)")
    names, key = parts.together(keys.expressions, node)
    items, value = parts.together(values.expressions, node)
    lists = [f"[{', '.join(each.sql for each in found)}]" for found in (names, items)]
    kind = pa.map_(key, value)
    return Typed(f"CAST(map({lists[0]}, {lists[1]}) AS {duckdb_type(kind)})", kind, node)


def _struct(parts: Translator, node: exp.Expr) -> Typed:
    fields = []
    for k, part in enumerate(node.expressions, start=1):
        named = isinstance(part, (exp.PropertyEQ, exp.Alias))
        value = part.expression if isinstance(part, exp.PropertyEQ) else part.unalias()
        name = (
            (part.this.name if isinstance(part, exp.PropertyEQ) else part.alias)
            if named
            else f"col{k}"
        )
        fields.append((name, parts.of(value)))
    packed = ", ".join(f"{quoted(name)} := {value.sql}" for name, value in fields)
    kind = pa.struct([(name, value.type) for name, value in fields])
    return Typed(f"struct_pack({packed})", kind, node)


def _bracket(parts: Translator, node: exp.Expr) -> Typed:
    """An element by its place, a value by its key, or a field by its name."""
    value, (index,) = parts.of(node.this), node.expressions
    if pa.types.is_struct(value.type) and index.is_string:
        return _field_of(value, index.name, node)
    if pa.types.is_map(value.type):
        key = cast(parts.of(index), value.type.key_type).sql
        return Typed(f"{value.sql}[{key}]", value.type.item_type, node)
    if not pa.types.is_list(value.type):
        raise does_not_take("[]", [value.type], node)
    place = cast(parts.arg(index, INT, node), BIGINT).sql
    otherwise = "NULL" if node.args.get("safe") else stop("the array has no element there")
    if not node.args.get("offset"):  # counted from 0, not from the end
        place = f"CASE WHEN {place} < 0 THEN 0 ELSE {place} + 1 END"
    return Typed(f"spark_element({value.sql}, {place}, {otherwise})", value.type.value_type, node)


def _dot(parts: Translator, node: exp.Expr) -> Typed:
    return _field_of(parts.of(node.this), node.expression.name, node)


def _field_of(value: Typed, name: str, node: exp.Expr) -> Typed:
    if pa.types.is_struct(value.type):
        for field in value.type:
            if field.name.casefold() == name.casefold():
                return Typed(
                    f"struct_extract({value.sql}, {quoted_text(field.name)})", field.type, node
                )
    known = [field.name for field in value.type] if pa.types.is_struct(value.type) else []
    help = f"fields: {', '.join(known)}" if known else "only structs have fields"
    raise TypeMismatch(f"there is no field `{name}`", node, help)


def _size(parts: Translator, node: exp.Expr) -> Typed:
    value = parts.of(node.this)
    if pa.types.is_list(value.type):
        return Typed(f"CAST(len({value.sql}) AS INT)", INT, node)
    if pa.types.is_map(value.type):
        return Typed(f"CAST(cardinality({value.sql}) AS INT)", INT, node)
    raise does_not_take("SIZE", [value.type], node)


def _list(parts: Translator, node: exp.Expr, what: exp.Expr) -> Typed:
    value = parts.of(what)
    if not pa.types.is_list(value.type):
        raise does_not_take(name_of_node(node), [value.type], node)
    return value


def _with_element(template: str, gives: pa.DataType | None = None) -> Rule:
    """A function of an array and an element, in the type that they have in common."""

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        array, element = _list(parts, node, node.this), parts.of(node.expression)
        inner = Typed("", array.type.value_type, node)
        shared = common_type([inner, element])
        if shared is None or element.type == NULL:
            raise does_not_take(name_of_node(node), [array.type, element.type], node)
        kind = pa.list_(shared)
        sql = template.format(cast(array, kind).sql, cast(element, shared).sql)
        return Typed(sql, gives or kind, node)

    return rule


def _sorted(parts: Translator, node: exp.Expr) -> Typed:
    array = _list(parts, node, node.this)
    if node.expression:
        raise NotSupported("ARRAY_SORT with a function", node, "sort without a function")
    down = isinstance(node.args.get("asc"), exp.Boolean) and not node.args["asc"].this
    first = node.args.get("nulls_first")
    nulls = "FIRST" if first is None or first.this else "LAST"
    return Typed(
        f"list_sort({array.sql}, '{'DESC' if down else 'ASC'}', 'NULLS {nulls}')", array.type, node
    )


def _extreme(name: str) -> Rule:
    def rule(parts: Translator, node: exp.Expr) -> Typed:
        array = _list(parts, node, node.this)
        return Typed(f"{name}({array.sql})", array.type.value_type, node)

    return rule


def _slice(parts: Translator, node: exp.Expr) -> Typed:
    array = _list(parts, node, node.this)
    start, count = (parts.arg(node.args[name], INT, node).sql for name in ("start", "end"))
    return Typed(f"spark_slice({array.sql}, {start}, {count})", array.type, node)


def _joined(parts: Translator, node: exp.Expr) -> Typed:
    array, by = _list(parts, node, node.this), parts.arg(node.expression, STRING, node).sql
    if array.type.value_type != STRING:
        raise does_not_take("ARRAY_JOIN", [array.type], node)
    found = array.sql
    if (null := node.args.get("null")) is not None:
        other = parts.arg(null, STRING, node).sql
        found = f"list_transform({found}, lambda spark_each: coalesce(spark_each, {other}))"
    return Typed(f"array_to_string({found}, {by})", STRING, node)


def _keys(parts: Translator, node: exp.Expr) -> Typed:
    value = parts.of(node.this)
    if not pa.types.is_map(value.type):
        raise does_not_take("MAP_KEYS", [value.type], node)
    return Typed(f"map_keys({value.sql})", pa.list_(value.type.key_type), node)


def _values(parts: Translator, node: exp.Expr) -> Typed:
    value = parts.of(node.expressions[0])
    if not pa.types.is_map(value.type):
        raise does_not_take("MAP_VALUES", [value.type], node)
    return Typed(f"map_values({value.sql})", pa.list_(value.type.item_type), node)


def _has_key(parts: Translator, node: exp.Expr) -> Typed:
    value = parts.of(node.this)
    if not pa.types.is_map(value.type):
        raise does_not_take("MAP_CONTAINS_KEY", [value.type], node)
    key = cast(parts.of(node.args["key"]), value.type.key_type).sql
    return Typed(f"list_contains(map_keys({value.sql}), {key})", BOOLEAN, node)


def _flattened(parts: Translator, node: exp.Expr) -> Typed:
    array = _list(parts, node, node.this)
    if not pa.types.is_list(array.type.value_type):
        raise does_not_take("FLATTEN", [array.type], node)
    whole = f"len({array.sql}) > list_count({array.sql})"
    return Typed(
        f"CASE WHEN {whole} THEN NULL ELSE flatten({array.sql}) END", array.type.value_type, node
    )


def _compact(parts: Translator, node: exp.Expr) -> Typed:
    array = _list(parts, node, node.this)
    sql = f"list_filter({array.sql}, lambda spark_each: spark_each IS NOT NULL)"
    return Typed(sql, array.type, node)


NAMED: dict[str, Rule] = {"map_values": _values}

RULES: dict[type[exp.Expr], Rule] = {
    exp.Array: _array,
    exp.VarMap: _map,
    exp.Map: _map,
    exp.Struct: _struct,
    exp.Bracket: _bracket,
    exp.Dot: _dot,
    exp.ArraySize: _size,
    exp.ArrayContains: _with_element("spark_contains({0}, {1})", BOOLEAN),
    exp.ArrayPosition: _with_element(
        "spark_position({0}, {1})",
        BIGINT,
    ),
    exp.ArrayAppend: _with_element("CASE WHEN {0} IS NOT NULL THEN list_append({0}, {1}) END"),
    exp.ArrayPrepend: _with_element("CASE WHEN {0} IS NOT NULL THEN list_prepend({1}, {0}) END"),
    exp.ArrayRemove: _with_element("spark_remove({0}, {1})"),
    exp.ArrayCompact: _compact,
    exp.ArraySort: _sorted,
    exp.ArrayMin: _extreme("list_min"),
    exp.ArrayMax: _extreme("list_max"),
    exp.ArraySlice: _slice,
    exp.ArrayToString: _joined,
    exp.MapKeys: _keys,
    exp.MapContainsKey: _has_key,
    exp.Flatten: _flattened,
}
