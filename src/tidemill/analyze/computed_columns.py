"""Columns of a stream that are computed from those that its rows bring."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Field, Scalar, Scan, Schema, SourceKind
from tidemill.algebra.types import UnknownType, from_sql
from tidemill.analyze.context import Context
from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import cast, has_subquery
from tidemill.catalog.catalog import Catalog
from tidemill.errors import PlanError, UnsupportedError
from tidemill.expressions.names import NAMES
from tidemill.sql import CreateRelation, CreateStream, Tidemill, error_at

_TYPES = "BOOLEAN, INT, BIGINT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP, ..."


def computation(definition: exp.ColumnDef) -> exp.Expr | None:
    """What a column is computed by; None if rows bring it."""
    for constraint in definition.args.get("constraints") or ():
        if isinstance(constraint.args["kind"], exp.ComputedColumnConstraint):
            found: exp.Expr = constraint.args["kind"].this
            return found
    return None


def is_required(definition: exp.ColumnDef) -> bool:
    """Whether a column is NOT NULL."""
    kinds = [constraint.args["kind"] for constraint in definition.args.get("constraints") or ()]
    return any(
        isinstance(kind, exp.NotNullColumnConstraint) and not kind.args.get("allow_null")
        for kind in kinds
    )


def computed_columns(
    statement: CreateStream | CreateRelation, brought: Sequence[Field]
) -> dict[str, Scalar]:
    """The computed columns of a stream, over the names of those that its rows bring.

    >>> from tidemill.sql import parse_one
    >>> sql = "CREATE STREAM s (text STRING, n AS length(text)) SOURCE csv(path => 's')"
    >>> computed_columns(parse_one(sql), [Field("text", pa.string())])
    {'n': LENGTH(text)}
    """
    found: dict[str, Scalar] = {}
    for definition in statement.columns:
        if (node := computation(definition)) is None:
            continue
        if isinstance(statement, CreateRelation):
            help = f"write CREATE RELATION {statement.name} AS SELECT ... FROM the declared one"
            message = "computed columns belong to streams: a query computes those of a relation"
            raise error_at(UnsupportedError, message, definition, help)
        found[definition.name] = _typed(definition, _scalar(statement.name, node, brought))
    return found


def _scalar(name: str, node: exp.Expr, brought: Sequence[Field]) -> Scalar:
    _refuse(node)
    columns = Schema(tuple(brought))
    scan = Scan(name, name, columns, SourceKind.STREAM)
    scope = Scope([Item(name, name, scan, columns, node)])
    stage = PlanStage(Context(Catalog()), scan, scope)
    scalar = stage.scalar(stage.bind(node, "a computed column"))
    return scalar.rename({f"{name}.{field.name}": field.name for field in brought})


def _refuse(node: exp.Expr) -> None:
    if has_subquery(node):
        help = "write a view over the stream: CREATE VIEW name AS SELECT ..."
        raise error_at(UnsupportedError, "a computed column has no subqueries", node, help)
    for call in node.find_all(exp.Anonymous):
        if call.name.lower() not in NAMES:
            help = "write a view over the stream: CREATE VIEW name AS SELECT ..., which may call it"
            message = f"a computed column takes Spark's functions, and `{call.name}` is none"
            raise error_at(UnsupportedError, message, call, help)


def _typed(definition: exp.ColumnDef, scalar: Scalar) -> Scalar:
    if definition.args.get("kind") is None:
        return scalar
    wanted = type_of_definition(definition)
    return scalar if scalar.type == wanted else Scalar(cast(scalar.node, wanted), wanted)


def type_of_definition(definition: exp.ColumnDef) -> pa.DataType:
    """The type that a column is declared with."""
    kind = definition.args["kind"]
    try:
        return from_sql(kind)
    except UnknownType:
        text = kind.sql(dialect=Tidemill)
        message = f"column `{definition.name}` has the unknown type `{text}`"
        raise error_at(PlanError, message, definition, f"types: {_TYPES}") from None
