"""Operators of the worked examples as plans of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from sqlglot import exp

from tests.golden import formulas
from tidemill.algebra import (
    Aggregate,
    AggregateCall,
    AntiJoin,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    MaxUnion,
    Plan,
    Project,
    Rstream,
    Scalar,
    SemiJoin,
    StrictDifference,
    TimeWindow,
    Union,
    UserAggregate,
)
from tidemill.algebra.aggregates import result_type
from tidemill.algebra.scalar import column, column_node

Params = Mapping[str, Any]

_COMPARISONS = {"=": exp.EQ, "!=": exp.NEQ, "<": exp.LT}

SUM_SYMBOLIC = UserAggregate(
    "SUM_SYMBOLIC",
    init=lambda name: [name],
    merge=lambda some, others: some + others,
    eval=lambda names: "+".join(sorted(names)),
    type=pa.string(),
)


def build(operator: str, params: Params, *inputs: Plan) -> Plan:
    """The plan of an operator of the examples over plans with one column (or more, for joins)."""
    return _BUILDERS[operator](params, *inputs)


def only(plan: Plan) -> Scalar:
    """The single column of a plan."""
    (field,) = plan.schema
    return column(field.name, field.type)


def case_of(value: Scalar, answers: Mapping[Any, Any], otherwise: Any, kind: pa.DataType) -> Scalar:
    """CASE value WHEN … THEN … ELSE otherwise END; `otherwise` may be the value itself."""
    result = exp.Case(this=value.node.copy())
    for known, answer in answers.items():
        result = result.when(exp.convert(known), exp.convert(answer))
    default = otherwise.node.copy() if isinstance(otherwise, Scalar) else exp.convert(otherwise)
    return Scalar(result.else_(default), kind)


def is_in(plan: Plan, values: list[Any]) -> Filter:
    """The rows of a plan whose single column has one of the values."""
    options = [exp.convert(value) for value in values]
    return Filter(plan, Scalar(exp.In(this=only(plan).node, expressions=options), pa.bool_()))


def groups(params: Params, child: Plan) -> dict[str, Plan]:
    """The grouping operator: a filter per group."""
    names = sorted({*params["group_of"].values(), params["otherwise"]})
    grouped = _with_group(params, child)

    def group(name: Any) -> Plan:
        test = exp.EQ(this=column_node("group"), expression=exp.convert(name))
        return as_named(Filter(grouped, Scalar(test, pa.bool_())), child)

    return {str(name): group(name) for name in names}


def apart(left: Plan, right: Plan) -> tuple[Plan, Plan]:
    """Both inputs of a join with column names of their own."""
    return formulas.renamed(left, "l"), formulas.renamed(right, "r")


def theta(text: str) -> Scalar:
    """`left = right` and the like over inputs that were set `apart`."""
    comparison = _COMPARISONS[text.split()[1]]
    node = comparison(this=column_node("l0"), expression=column_node("r0"))
    return Scalar(node, pa.bool_())


def as_named(plan: Plan, like: Plan) -> Plan:
    """The leading columns of a plan under the names of another."""
    pairs = zip(like.schema.names, plan.schema, strict=False)
    return Project(plan, tuple((name, column(field.name, field.type)) for name, field in pairs))


def _map(params: Params, child: Plan) -> Plan:
    value = only(child)
    replaced = case_of(value, params["replace"], value, pa.string())
    return Project(child, ((child.schema.names[0], replaced),))


def _join(params: Params, left: Plan, right: Plan) -> Plan:
    condition = theta(params["theta"]) if "theta" in params else None
    joined = Join(*apart(left, right), condition)
    return as_named(joined, left) if params["result"] == "left" else joined


def _semi_join(params: Params, left: Plan, right: Plan) -> Plan:
    return as_named(SemiJoin(*apart(left, right), theta(params["theta"])), left)


def _anti_join(params: Params, left: Plan, right: Plan) -> Plan:
    return as_named(AntiJoin(*apart(left, right), theta(params["theta"])), left)


def _set_operation(operator: Callable[[Plan, Plan], Plan]) -> Callable[..., Plan]:
    return lambda params, left, right: operator(left, as_named(right, left))


def _aggregation(params: Params, child: Plan) -> Plan:
    keys: tuple[str, ...] = ()
    if "group_of" in params:
        child, keys = _with_group(params, child), ("group",)
    elif "group_by" in params:
        keys = child.schema.names[:1]
    argument = child.schema.names[0]
    if "values" in params:
        value = column(argument, child.schema[argument])
        number = case_of(value, params["values"], None, pa.int64())
        kept = tuple((f.name, column(f.name, f.type)) for f in child.schema)
        child, argument = Project(child, (*kept, ("number", number))), "number"
    return Aggregate(child, keys, (_call(params["aggregate"], argument, child),))


def _call(name: str, argument: str, child: Plan) -> AggregateCall:
    if name == "SUM_SYMBOLIC":
        return AggregateCall("answer", name, argument, pa.string(), user=SUM_SYMBOLIC)
    function, _, distinct = name.partition("_")
    kind = result_type(function, child.schema[argument])
    return AggregateCall("answer", function, argument, kind, distinct=distinct == "DISTINCT")


def _time_window(params: Params, child: Plan) -> Plan:
    return TimeWindow(child, _size(params["size"]), params.get("slide", 1))


def _count_window(params: Params, child: Plan) -> Plan:
    return CountWindow(child, _size(params["rows"]), params.get("slide", 1))


def _partitioned_window(params: Params, child: Plan) -> Plan:
    rows, slide = _size(params["rows"]), params.get("slide", 1)
    if "group_by" in params:
        return CountWindow(child, rows, slide, child.schema.names)
    window = CountWindow(_with_group(params, child), rows, slide, ("group",))
    return as_named(window, child)


def _size(size: Any) -> int | None:
    return None if size == "inf" else int(size)


def _with_group(params: Params, child: Plan) -> Plan:
    kind = pa.string() if isinstance(params["otherwise"], str) else pa.int64()
    group = case_of(only(child), params["group_of"], params["otherwise"], kind)
    return Project(child, ((child.schema.names[0], only(child)), ("group", group)))


def _istream(params: Params, child: Plan) -> Plan:
    literal = params.get("reading") == "anti_join"
    return formulas.istream_17_3(child) if literal else Istream(child)


def _dstream(params: Params, child: Plan) -> Plan:
    literal = params.get("timestamp") == "first_invalid"
    return formulas.dstream_17_4(child) if literal else Dstream(child)


def _rstream(params: Params, child: Plan) -> Plan:
    return Rstream(_time_window(params, child) if "size" in params else child)


_BUILDERS: dict[str, Callable[..., Plan]] = {
    "identity": lambda params, child: child,
    "filter": lambda params, child: is_in(child, params["tuple_in"]),
    "map": _map,
    "union": _set_operation(Union),
    "difference": _set_operation(Difference),
    "strict_difference": _set_operation(StrictDifference),
    "intersection": _set_operation(Intersection),
    "max_union": _set_operation(MaxUnion),
    "cartesian_product": _join,
    "theta_join": _join,
    "semi_join": _semi_join,
    "anti_join": _anti_join,
    "duplicate_elimination": lambda params, child: Distinct(child),
    "scalar_aggregation": _aggregation,
    "grouping_aggregation": _aggregation,
    "time_window": _time_window,
    "count_window": _count_window,
    "partitioned_window": _partitioned_window,
    "granularity": lambda params, child: Granularity(child, params["granule"]),
    "istream": _istream,
    "dstream": _dstream,
    "rstream": _rstream,
    # Pairs are columns side by side here, so nested pairs are flat already.
    "flatten": lambda params, child: child,
}
OPERATORS = frozenset(_BUILDERS)
