"""Calls of aggregates in the words of SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from tidemill.algebra import AggregateCall
from tidemill.algebra.paired import PAIRED
from tidemill.sql import Tidemill


def spoken_call(call: AggregateCall, argument: exp.Expr | None) -> exp.Expr:
    """The call of an argument; one of several columns takes the fields of its struct.

    >>> import pyarrow as pa
    >>> call = AggregateCall("m", "MIN_BY", "arg", pa.int64())
    >>> spoken_call(call, exp.column("arg")).sql()
    'MIN_BY(arg."__value", arg."__by")'
    """
    if argument is not None and (speak := _SPOKEN.get(call.function)) is not None:
        return speak(call, argument)
    node: exp.Expr = exp.Star() if argument is None else argument
    return _called(call.function, exp.Distinct(expressions=[node]) if call.distinct else node)


def _called(function: str, *parts: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(parts))


def _field(argument: exp.Expr, name: str) -> exp.Expr:
    struct = argument if isinstance(argument, exp.Column) else exp.Paren(this=argument)
    return exp.Dot(this=struct.copy(), expression=exp.to_identifier(name, quoted=True))


def _by(call: AggregateCall, argument: exp.Expr) -> exp.Expr:
    return _called(call.function, _field(argument, "__value"), _field(argument, "__by"))


def _pair(call: AggregateCall, argument: exp.Expr) -> exp.Expr:
    return _called(call.function, _field(argument, "__y"), _field(argument, "__x"))


def _list(call: AggregateCall, argument: exp.Expr) -> exp.Expr:
    return _called("ARRAY_AGG", _in_order(call, argument, call.options))


def _text(call: AggregateCall, argument: exp.Expr) -> exp.Expr:
    separator, *directions = call.options
    value = _in_order(call, argument, tuple(directions))
    if not isinstance(value, exp.Order):
        return _called(call.function, value, exp.Literal.string(separator))
    call_node = _called("LISTAGG", value.this, exp.Literal.string(separator))
    return exp.WithinGroup(this=call_node, expression=exp.Order(expressions=value.expressions))


def _in_order(
    call: AggregateCall, argument: exp.Expr, directions: tuple[tuple[bool, bool], ...]
) -> exp.Expr:
    if not directions:
        return exp.Distinct(expressions=[argument]) if call.distinct else argument
    terms = [
        exp.Ordered(this=_field(argument, f"__by{number}"), desc=descending, nulls_first=first)
        for number, (descending, first) in enumerate(directions)
    ]
    return exp.Order(this=_field(argument, "__value"), expressions=terms)


def _percentile(call: AggregateCall, argument: exp.Expr) -> exp.Expr:
    return _called(call.function, argument, _shares(call))


def _percentile_disc(call: AggregateCall, argument: exp.Expr) -> exp.Expr:
    term = exp.Ordered(this=argument, desc=call.options[1], nulls_first=not call.options[1])
    order = exp.Order(expressions=[term])
    return exp.WithinGroup(this=_called(call.function, _shares(call)), expression=order)


def _shares(call: AggregateCall) -> exp.Expr:
    shares = call.options[0]
    if isinstance(shares, tuple):
        return exp.Array(expressions=[exp.Literal.number(share) for share in shares])
    return exp.Literal.number(shares)


_SPOKEN: Final[dict[str, Callable[[AggregateCall, exp.Expr], exp.Expr]]] = {
    **dict.fromkeys(PAIRED, _pair),
    "MIN_BY": _by,
    "MAX_BY": _by,
    "COLLECT_LIST": _list,
    "STRING_AGG": _text,
    "PERCENTILE": _percentile,
    "PERCENTILE_DISC": _percentile_disc,
}


def call_sql(call: AggregateCall, argument: exp.Expr | None) -> str:
    """The call as text."""
    return spoken_call(call, argument).sql(dialect=Tidemill)
