"""The values of INSERT INTO a relation, and the instants of changes."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Scalar, Scan, Schema
from tidemill.algebra.fitting import Misfit, fitted_value
from tidemill.algebra.types import name_of
from tidemill.analyze.context import Context
from tidemill.analyze.scope import Scope
from tidemill.analyze.stage import PlanStage
from tidemill.catalog.catalog import Catalog, SourceInfo
from tidemill.errors import PlanError, TidemillError, TimeLimitError
from tidemill.expressions import TypeMismatch, compile_items
from tidemill.sql import InsertValues, error_at

_DIGITS = 19
"""Numbers with fewer fit into a BIGINT."""

_ONE_ROW = pl.DataFrame({"row": [0]})


def inserted_rows(statement: InsertValues, info: SourceInfo, catalog: Catalog) -> pa.Table:
    """The rows of an INSERT, in the columns of the relation."""
    names = [_column(name, info, statement) for name in statement.columns] or info.schema.names
    missing = [name for name in info.schema.names if name not in names]
    stage = _constants(catalog)
    values: dict[str, list[Any]] = {name: [] for name in info.schema.names}
    for row in statement.rows:
        if len(row.expressions) != len(names):
            message = f"a row has {len(row.expressions)} values for {len(names)} columns"
            raise error_at(PlanError, message, row, f"columns: {', '.join(names)}")
        for name, node in zip(names, row.expressions, strict=True):
            values[name].append(_value(node, info.schema[name], name, stage))
        for name in missing:
            values[name].append(None)
    arrays = [pa.array(values[field.name], field.type) for field in info.schema]
    return pa.Table.from_arrays(arrays, names=list(info.schema.names))


def instant_of(node: exp.Expr | None, catalog: Catalog) -> Any:
    """The instant of AT: a number or a time; None if nothing is said."""
    if node is None:
        return None
    scalar = _constants(catalog).scalar(_bound(node, _constants(catalog)))
    if not (pa.types.is_integer(scalar.type) or pa.types.is_timestamp(scalar.type)):
        message = f"AT takes an instant, not {name_of(scalar.type)}"
        help = "write AT 5, or AT TIMESTAMP '2026-01-01 12:00:00'"
        raise error_at(PlanError, message, node, help)
    return _computed(scalar)


def _column(name: str, info: SourceInfo, statement: InsertValues) -> str:
    for known in info.schema.names:
        if known.casefold() == name.casefold():
            return known
    message = f"`{info.name}` has no column `{name}`"
    raise error_at(PlanError, message, statement.tree, f"columns: {', '.join(info.schema.names)}")


def _constants(catalog: Catalog) -> PlanStage:
    """A stage without columns."""
    return PlanStage(Context(catalog), Scan("", "", Schema(())), Scope([]))


def _bound(node: exp.Expr, stage: PlanStage) -> exp.Expr:
    if (found := node.find(exp.Column, exp.Select)) is not None:
        message = "a value cannot mention columns or queries"
        raise error_at(PlanError, message, found, "a text is written in quotation marks: 'text'")
    return stage.bind(node, "VALUES")


def _value(node: exp.Expr, data_type: pa.DataType, name: str, stage: PlanStage) -> Any:
    try:
        if _is_plain(node, data_type):
            return node.name if node.is_string else fitted_value(int(node.name), data_type)
        bound = _bound(node, stage)
        scalar = stage.scalar(bound)
        wanted = exp.DataType.build(name_of(data_type), dialect="spark")
        cast = Scalar(exp.Cast(this=bound, to=wanted), data_type)
        if scalar.type == data_type or pa.types.is_string(scalar.type):
            return _computed(scalar if scalar.type == data_type else cast)
        if not pa.types.is_string(data_type):
            return fitted_value(_computed(scalar), data_type)
        return _computed(cast)
    except (TypeMismatch, Misfit) as error:
        message = f"`{name}` is {name_of(data_type)}: {error}"
        help = f"give a value of type {name_of(data_type)}"
        raise error_at(PlanError, message, node, help) from None
    except (PlanError, TimeLimitError):
        raise
    except TidemillError as error:
        message = f"`{name}` is {name_of(data_type)}: {error.message}"
        help = f"give a value of type {name_of(data_type)}"
        raise error_at(PlanError, message, node, help) from None


def _is_plain(node: exp.Expr, data_type: pa.DataType) -> bool:
    """Whether a constant is what it looks like: to ask DuckDB takes a millisecond for each."""
    if not isinstance(node, exp.Literal):
        return False
    if node.is_string:
        return bool(pa.types.is_string(data_type))
    whole = node.name.isdigit() and len(node.name) < _DIGITS
    return whole and bool(pa.types.is_integer(data_type))


def _computed(scalar: Scalar) -> Any:
    (value,) = compile_items([("value", scalar)], Schema(()), {}).run(_ONE_ROW)["value"].to_arrow()
    return value.as_py()
