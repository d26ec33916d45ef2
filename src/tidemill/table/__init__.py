"""Queries made in Python, not in text: tables, and expressions over their columns."""

from tidemill.table.expressions import Expr
from tidemill.table.functions import (
    all_of,
    any_of,
    avg,
    case,
    col,
    count,
    exists,
    expr,
    fn,
    lit,
    max,
    min,
    sum,
)
from tidemill.table.grouping import Grouped, cube, grouping_sets, rollup
from tidemill.table.sources import named_table, table_expr, unnest, values
from tidemill.table.table import TableExpr

__all__ = [
    "Expr",
    "Grouped",
    "TableExpr",
    "all_of",
    "any_of",
    "avg",
    "case",
    "col",
    "count",
    "cube",
    "exists",
    "expr",
    "fn",
    "grouping_sets",
    "lit",
    "max",
    "min",
    "named_table",
    "rollup",
    "sum",
    "table_expr",
    "unnest",
    "values",
]
