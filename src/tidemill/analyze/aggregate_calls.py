"""Calls of aggregate functions: the function, its arguments and its options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from tidemill.analyze.functions import AGGREGATES, ALIASES, name_of_call
from tidemill.analyze.trees import all_of
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at

_PAIR_FIELDS: Final = ("__y", "__x")


@dataclass(frozen=True)
class Call:
    """An aggregate of one expression (None: of whole rows); several columns come as a struct."""

    function: str
    argument: exp.Expr | None
    distinct: bool = False
    options: tuple[Any, ...] = ()


def read_call(node: exp.Expr) -> Call | None:
    """What a call of a built-in aggregate means; None if there is no such function."""
    call, order = node, None
    if isinstance(node, exp.WithinGroup):
        call, order = node.this, node.expression
    if (reader := _READERS.get(type(call))) is not None:
        _refuse_missing(call)
        return reader(call, order)
    function = ALIASES.get(name_of_call(call).lower()) or AGGREGATES.get(type(call))
    if function is None or order is not None:
        return None
    return plain_call(function, call)


def _refuse_missing(call: exp.Expr) -> None:
    """The parser lets arguments be missing, as in MAX_BY(price)."""
    needed = _NEEDED.get(type(call), ("this",))
    found = [call.args.get(name) for name in needed]
    if not all(part.this if isinstance(part, exp.Order) else part for part in found):
        count = "an argument" if len(needed) == 1 else "two arguments"
        message = f"`{name_of_call(call)}` takes {count}"
        help = "as in MAX_BY(item, price), PERCENTILE(price, 0.5), CORR(price, quantity)"
        raise error_at(PlanError, message, call, help)


def plain_call(function: str, call: exp.Expr) -> Call:
    """A function of one expression, of all rows as in COUNT(*), or COUNT of several."""
    parts = call.expressions if isinstance(call, exp.Anonymous) else [call.this, *call.expressions]
    distinct = len(parts) == 1 and isinstance(parts[0], exp.Distinct)
    parts = parts[0].expressions if distinct else parts
    if len(parts) == 1 and isinstance(parts[0], exp.Star):
        return Call(function, None)
    if len(parts) > 1 and isinstance(call, exp.Count):
        return Call(function, _together(parts, distinct), distinct)
    return Call(function, _only(parts, call), distinct)


def only_where(argument: exp.Expr | None, condition: exp.Expr) -> exp.Expr:
    """Aggregates leave NULLs out, so FILTER is a CASE without ELSE."""
    value = exp.Literal.number(1) if argument is None else argument.copy()
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value)])


def _only(parts: list[exp.Expr], call: exp.Expr) -> exp.Expr:
    if len(parts) != 1:
        message = f"`{name_of_call(call)}` takes one argument"
        raise error_at(UnsupportedError, message, call, "write one call for each")
    return parts[0]


def _together(parts: list[exp.Expr], distinct: bool) -> exp.Expr:
    """The arguments of COUNT as one: it counts the rows in which none of them is NULL."""
    fields = {f"f{number}": part for number, part in enumerate(parts)}
    return only_where(_struct(fields) if distinct else None, _known(*parts))


def _struct(fields: Mapping[str, exp.Expr]) -> exp.Expr:
    parts = (
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=part.copy())
        for name, part in fields.items()
    )
    return exp.Struct(expressions=list(parts))


def _packed(fields: Mapping[str, exp.Expr], known: exp.Expr) -> exp.Expr:
    """The columns of rows that count, as one struct; such a struct as it is, if its fields come.

    Plans that are said in SQL again name the fields, which nobody else does.
    """
    parts = [part.this if isinstance(part, exp.Cast) else part for part in fields.values()]
    if all(isinstance(part, exp.Dot) for part in parts):
        names, structs = [part.name for part in parts], [part.this.unnest() for part in parts]
        if names == list(fields) and all(struct == structs[0] for struct in structs):
            found: exp.Expr = structs[0]
            return found
    return only_where(_struct(fields), known)


def _known(*parts: exp.Expr) -> exp.Expr:
    known = all_of(exp.Not(this=exp.Is(this=part.copy(), expression=exp.null())) for part in parts)
    assert known is not None
    return known


def _pair(call: exp.Expr, order: exp.Order | None) -> Call:
    """Statistics of two columns: rows in which one is NULL do not count."""
    y, x = call.this, call.expression
    double = exp.DataType.build("DOUBLE")
    fields = {
        name: exp.Cast(this=part.copy(), to=double.copy())
        for name, part in zip(_PAIR_FIELDS, (y, x), strict=True)
    }
    return Call(_PAIRS[type(call)], _packed(fields, _known(y, x)))


def _value_by(call: exp.Expr, order: exp.Order | None) -> Call:
    """MIN_BY, MAX_BY: rows without a key do not count."""
    function = "MIN_BY" if isinstance(call, exp.ArgMin) else "MAX_BY"
    fields = {"__value": call.this, "__by": call.expression}
    return Call(function, _packed(fields, _known(call.expression)))


def _list(call: exp.Expr, order: exp.Order | None) -> Call:
    argument, distinct, directions = _ordered_argument(call)
    return Call("COLLECT_LIST", argument, distinct, directions)


def _set(call: exp.Expr, order: exp.Order | None) -> Call:
    return Call("COLLECT_LIST", call.this, True)


def _text(call: exp.Expr, order: exp.Order | None) -> Call:
    argument, distinct, directions = _ordered_argument(call)
    separator = call.args.get("separator") or exp.Literal.string("")
    if not isinstance(separator, exp.Literal) or not separator.is_string:
        message = f"the separator of `{name_of_call(call)}` is a text"
        raise error_at(PlanError, message, separator, "write for example ', '")
    return Call("STRING_AGG", argument, distinct, (separator.name, *directions))


def _ordered_argument(call: exp.Expr) -> tuple[exp.Expr, bool, tuple[Any, ...]]:
    """The argument, with the keys of its ORDER BY beside it, and their directions."""
    node: exp.Expr = call.this
    terms = node.expressions if isinstance(node, exp.Order) else []
    node = node.this if isinstance(node, exp.Order) else node
    distinct = isinstance(node, exp.Distinct)
    value = _only(node.expressions, call) if distinct else node
    if not terms:
        return value, distinct, ()
    if distinct:
        message = f"`{name_of_call(call)}` takes DISTINCT or ORDER BY, not both"
        help = "distinct values are in ascending order"
        raise error_at(UnsupportedError, message, call, help)
    keys = {f"__by{number}": term.this for number, term in enumerate(terms)}
    directions = tuple(
        (bool(term.args.get("desc")), bool(term.args.get("nulls_first"))) for term in terms
    )
    return _packed({"__value": value, **keys}, _known(value)), False, directions


def _percentile(call: exp.Expr, order: exp.Order | None) -> Call:
    if isinstance(call, exp.Median):
        return Call("PERCENTILE", call.this, False, (0.5,))
    return Call("PERCENTILE", call.this, False, (_shares(call.args["quantile"]),))


def _percentile_within(call: exp.Expr, order: exp.Order | None) -> Call:
    term = _one_term(call, order)
    shares, descending = _shares(call.this), bool(term.args.get("desc"))
    if isinstance(call, exp.PercentileDisc):
        return Call("PERCENTILE_DISC", term.this, False, (shares, descending))
    if descending:
        each = shares if isinstance(shares, tuple) else (shares,)
        turned = tuple(1 - share for share in each)
        shares = turned if isinstance(shares, tuple) else turned[0]
    return Call("PERCENTILE", term.this, False, (shares,))


def _approximate(call: exp.Expr, order: exp.Order | None) -> Call:
    """PERCENTILE_APPROX is one of the values; ours is the exact one."""
    return Call("PERCENTILE_DISC", call.this, False, (_shares(call.args["quantile"]), False))


def _mode(call: exp.Expr, order: exp.Order | None) -> Call:
    return Call("MODE", call.this or _one_term(call, order).this)


def _one_term(call: exp.Expr, order: exp.Order | None) -> exp.Ordered:
    terms = order.expressions if order is not None else []
    if len(terms) != 1:
        message = f"`{name_of_call(call)}` is computed within the order of one column"
        help = f"write {name_of_call(call)}(...) WITHIN GROUP (ORDER BY price)"
        raise error_at(PlanError, message, call, help)
    term: exp.Ordered = terms[0]
    return term


def _shares(node: exp.Expr) -> float | tuple[float, ...]:
    if isinstance(node, exp.Array):
        return tuple(_share(part) for part in node.expressions)
    return _share(node)


def _share(node: exp.Expr) -> float:
    number = _number(node)
    if not 0 <= number <= 1:
        message = "a percentile is given as a number from 0 to 1"
        raise error_at(PlanError, message, node, "write for example PERCENTILE(price, 0.5)")
    return number


def _number(node: exp.Expr) -> float:
    """The number that is written, or was given for a parameter, which has its type; else NaN."""
    is_cast = isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.NUMERIC_TYPES)
    literal = node.this if is_cast else node
    is_number = isinstance(literal, exp.Literal) and literal.is_string == is_cast
    return float(literal.name) if is_number else math.nan


def _all_true(call: exp.Expr, order: exp.Order | None) -> Call:
    """FALSE comes before TRUE."""
    return plain_call("MIN" if isinstance(call, exp.LogicalAnd) else "MAX", call)


def _count_if(call: exp.Expr, order: exp.Order | None) -> Call:
    return Call("COUNT", only_where(None, call.this))


def _count_distinct(call: exp.Expr, order: exp.Order | None) -> Call:
    """APPROX_COUNT_DISTINCT; ours is exact."""
    return Call("COUNT", call.this, True)


_PAIRS: Final[dict[type[exp.Expr], str]] = {
    exp.Corr: "CORR",
    exp.CovarPop: "COVAR_POP",
    exp.CovarSamp: "COVAR_SAMP",
    exp.RegrAvgx: "REGR_AVGX",
    exp.RegrAvgy: "REGR_AVGY",
    exp.RegrIntercept: "REGR_INTERCEPT",
    exp.RegrR2: "REGR_R2",
    exp.RegrSlope: "REGR_SLOPE",
    exp.RegrSxx: "REGR_SXX",
    exp.RegrSxy: "REGR_SXY",
    exp.RegrSyy: "REGR_SYY",
}


_NEEDED: Final[dict[type[exp.Expr], tuple[str, ...]]] = {
    **dict.fromkeys([*_PAIRS, exp.RegrCount, exp.ArgMin, exp.ArgMax], ("this", "expression")),
    **dict.fromkeys([exp.Quantile, exp.ApproxQuantile], ("this", "quantile")),
    exp.Mode: (),  # its argument may be in WITHIN GROUP
}
"""The arguments that a call has to have."""


def _count_pairs(call: exp.Expr, order: exp.Order | None) -> Call:
    return Call("COUNT", only_where(None, _known(call.this, call.expression)))


_READERS: Final[dict[type[exp.Expr], Callable[[exp.Expr, exp.Order | None], Call]]] = {
    **dict.fromkeys(_PAIRS, _pair),
    exp.RegrCount: _count_pairs,
    exp.ArrayAgg: _list,
    exp.ArrayUniqueAgg: _set,
    exp.GroupConcat: _text,
    exp.Median: _percentile,
    exp.Quantile: _percentile,
    exp.PercentileCont: _percentile_within,
    exp.PercentileDisc: _percentile_within,
    exp.ApproxQuantile: _approximate,
    exp.Mode: _mode,
    exp.ArgMin: _value_by,
    exp.ArgMax: _value_by,
    exp.LogicalAnd: _all_true,
    exp.LogicalOr: _all_true,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _count_distinct,
}
