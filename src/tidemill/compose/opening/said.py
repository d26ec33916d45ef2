"""Parts of plans as the texts of settings."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import AggregateCall, Scalar, Schema, SortKey
from tidemill.analyze.trees import cast
from tidemill.analyze.typecheck import type_of
from tidemill.compose.sql.calls import call_sql
from tidemill.compose.texts import column_text, expression
from tidemill.errors import UnsupportedError
from tidemill.sql.building import quoted


def typed(scalar: Scalar) -> Scalar:
    """A constant that says its type, if that is not the one that its text has."""
    node = scalar.node.unnest()
    if not isinstance(node, exp.Literal | exp.Null | exp.Boolean):
        return scalar
    if type_of(node, Schema(()), {}) == scalar.type:
        return scalar
    return Scalar(cast(node.copy(), scalar.type), scalar.type)


def call_text(call: AggregateCall) -> str:
    """An aggregate with the name of its column."""
    if call.weights or call.parts:
        message = "aggregates over rows that stand for many cannot be composed by hand"
        raise UnsupportedError(message, help="open the logical plan of the query")
    argument = None if call.argument is None else expression(column_text(call.argument))
    name = quoted(call.name) if "." in call.name else column_text(call.name)
    return f"{call_sql(call, argument)} AS {name}"


def order_text(key: SortKey) -> str:
    """A column with its direction."""
    direction = " DESC" if key.descending else ""
    usual = key.nulls_first != key.descending
    nulls = "" if usual else (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
    return f"{column_text(key.column)}{direction}{nulls}"
