"""VALUES: rows that a query spells out. They hold from the beginning, for ever."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import Field, Plan, Scalar, Schema
from tidemill.algebra.unnest import one_row
from tidemill.analyze.context import Context
from tidemill.analyze.correlation import Link
from tidemill.analyze.generators import Elements, Generator, elements_of
from tidemill.analyze.query import plan_tree
from tidemill.analyze.relation import PlannedRelation
from tidemill.analyze.scope import Scope
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import cast
from tidemill.errors import PlanError
from tidemill.sql import error_at


@plan_tree.register
def plan_values(tree: exp.Values, context: Context, link: Link | None) -> PlannedRelation:
    """VALUES as a query of its own."""
    rows = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree.copy()))
    return plan_tree(rows, context, link)


def constant_rows(node: exp.Values, context: Context, prefix: str) -> tuple[Plan, Schema]:
    """The plan of VALUES, with columns `prefix.col1`, ..., and what they are called."""
    stage = PlanStage(context, one_row(context.fresh("one")), Scope([]))
    rows = [_cells(row, stage) for row in node.expressions]
    for row, written in zip(rows, node.expressions, strict=True):
        if len(row) != len(rows[0]):
            message = f"this row has {len(row)} values, but the first has {len(rows[0])}"
            raise error_at(PlanError, message, written, "give all rows as many values")
    columns = [_alike(list(cells), stage, node) for cells in zip(*rows, strict=True)]
    elements = _elements(columns, node, stage, prefix)
    return elements.over(stage.plan, kept=()), elements.columns


def _cells(row: exp.Expr, stage: PlanStage) -> list[exp.Expr]:
    cells = row.expressions if isinstance(row, exp.Tuple) else [row.unnest()]
    for cell in cells:
        if (found := cell.find(exp.Column, exp.Subquery, exp.Select)) is not None:
            help = "write constants; a text is written in quotation marks"
            raise error_at(PlanError, "VALUES takes constants only", found, help)
    return [stage.bind(cell, "VALUES") for cell in cells]


def _alike(cells: list[exp.Expr], stage: PlanStage, node: exp.Expr) -> list[Scalar]:
    """The values of a column in the type that they have in common."""
    if all(isinstance(cell, exp.Null) for cell in cells):
        message = "a column of VALUES has only NULL, so its type is not known"
        raise error_at(PlanError, message, node, "write CAST(NULL AS INT), or another type")
    shared = stage.scalar(exp.Array(expressions=[cell.copy() for cell in cells])).type.value_type
    return [Scalar(cast(cell, shared), shared) for cell in cells]


def _elements(
    columns: list[list[Scalar]], node: exp.Expr, stage: PlanStage, prefix: str
) -> Elements:
    """As elements of a list: values, or structs of them."""
    names = tuple(f"col{number}" for number in range(1, len(columns) + 1))
    if len(columns) == 1:
        found = [cell.node for cell in columns[0]]
    else:
        fields = [Field(n, c[0].type) for n, c in zip(names, columns, strict=True)]
        found = [
            _struct(fields, [column[at] for column in columns]) for at in range(len(columns[0]))
        ]
    values = exp.Array(expressions=found)
    # As UNNEST of as many names as there are fields.
    generator = Generator(exp.Unnest(expressions=[values]), values, names=names)
    return elements_of(generator, values, stage, prefix)


def _struct(fields: list[Field], cells: list[Scalar]) -> exp.Expr:
    parts = [
        exp.PropertyEQ(this=exp.to_identifier(field.name), expression=cell.node)
        for field, cell in zip(fields, cells, strict=True)
    ]
    return exp.Struct(expressions=parts)
