"""Arrays as sets, made of values, and as entries of maps."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import common_type
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.translate import Rule, Translator, arguments, name_of_node
from tidemill.expressions.typed import (
    BIGINT,
    BOOLEAN,
    INT,
    NULL,
    NotSupported,
    Typed,
    does_not_take,
)


def _name(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Anonymous) else name_of_node(node)


def _arrays(parts: Translator, node: exp.Expr, count: int) -> tuple[list[str], pa.DataType]:
    """So many arrays, with elements of the type that they have in common."""
    found = [parts.of(each) for each in arguments(node)]
    types = [each.type for each in found]
    if len(found) != count or not all(pa.types.is_list(kind) for kind in types):
        raise does_not_take(_name(node), types, node)
    shared = common_type([Typed("", kind.value_type, node) for kind in types])
    if shared is None:
        raise does_not_take(_name(node), types, node)
    if pa.types.is_floating(shared) or pa.types.is_nested(shared):
        help = "arrays of whole numbers, decimals, texts, dates and times are compared"
        raise NotSupported(f"`{_name(node)}` of such arrays", node, help)
    kind = pa.list_(shared)
    return [cast(each, kind).sql for each in found], kind


def _of_arrays(template: str, count: int, gives: pa.DataType | None = None) -> Rule:
    def rule(parts: Translator, node: exp.Expr) -> Typed:
        arrays, kind = _arrays(parts, node, count)
        return Typed(template.format(*arrays), gives or kind, node)

    return rule


def _repeated(parts: Translator, node: exp.Expr) -> Typed:
    given = arguments(node)
    if len(given) != 2:
        raise does_not_take("ARRAY_REPEAT", [parts.of(each).type for each in given], node)
    value, times = parts.of(given[0]), parts.arg(given[1], INT, node).sql
    if value.type == NULL:
        raise NotSupported("an array of nothing but NULL", node, "cast it: CAST(NULL AS INT)")
    name = "spark_each"
    sql = f"list_transform(range(spark_times({times}, 16)), lambda {name}: {value.sql})"
    return Typed(sql, pa.list_(value.type), node)


def _sequence(parts: Translator, node: exp.Expr) -> Typed:
    given = [node.args[name] for name in ("start", "end", "step") if node.args.get(name)]
    found, shared = parts.together(given, node)
    if not pa.types.is_integer(shared):
        raise does_not_take("SEQUENCE", [part.type for part in found], node)
    start, stop, *step = (cast(part, BIGINT).sql for part in found)
    by = step[0] if step else f"CASE WHEN {start} <= {stop} THEN 1 ELSE -1 END"
    kind = pa.list_(shared)
    return Typed(f"CAST(spark_sequence({start}, {stop}, {by}) AS {duckdb_type(kind)})", kind, node)


def _entries(parts: Translator, node: exp.Expr) -> Typed:
    (given,) = node.expressions
    found = parts.of(given)
    if not pa.types.is_map(found.type):
        raise does_not_take("MAP_ENTRIES", [found.type], node)
    fields = [("key", found.type.key_type), ("value", found.type.item_type)]
    return Typed(f"map_entries({found.sql})", pa.list_(pa.struct(fields)), node)


def _from_entries(parts: Translator, node: exp.Expr) -> Typed:
    found = parts.of(node.this)
    entry = found.type.value_type if pa.types.is_list(found.type) else None
    if entry is None or not pa.types.is_struct(entry) or entry.num_fields != 2:
        raise does_not_take("MAP_FROM_ENTRIES", [found.type], node)
    kind = pa.map_(entry.field(0).type, entry.field(1).type)
    made = f"CAST(map_from_entries({found.sql}) AS {duckdb_type(kind)})"
    whole = f"len({found.sql}) = list_count({found.sql})"
    return Typed(f"CASE WHEN {whole} THEN {made} END", kind, node)


NAMED: dict[str, Rule] = {
    "array_union": _of_arrays("spark_union({0}, {1})", 2),
    "arrays_overlap": _of_arrays("spark_overlap({0}, {1})", 2, BOOLEAN),
    "array_repeat": _repeated,
    "map_entries": _entries,
}

RULES: dict[type[exp.Expr], Rule] = {
    exp.ArrayDistinct: _of_arrays("spark_distinct({0})", 1),
    exp.ArrayIntersect: _of_arrays("spark_common({0}, {1}, TRUE)", 2),
    exp.ArrayExcept: _of_arrays("spark_common({0}, {1}, FALSE)", 2),
    exp.GenerateSeries: _sequence,
    exp.MapFromEntries: _from_entries,
}
