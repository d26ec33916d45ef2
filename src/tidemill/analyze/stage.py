"""A plan in the making, with the names that expressions over it may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Filter, Plan, Project, Scalar, Schema, column
from tidemill.analyze.context import Context
from tidemill.analyze.functions import check_functions, find_aggregate, name_of_call
from tidemill.analyze.scope import Scope
from tidemill.analyze.trees import columns_of, rewrite
from tidemill.analyze.typecheck import check_boolean, type_of
from tidemill.errors import PlanError
from tidemill.sql import error_at

_NO_ROWS = Schema(())


@dataclass
class PlanStage:
    """The plan of a query block up to some clause.

    `outer` are columns of the query around this one that conditions may mention, because they
    will move into the join with it.
    """

    context: Context
    plan: Plan
    scope: Scope
    outer: Schema = field(default=_NO_ROWS)

    def bind(self, node: exp.Expr, clause: str = "") -> exp.Expr:
        """The expression over plan columns; subqueries in it stay as they are."""
        check_functions(node, self.context.catalog)
        call = find_aggregate(node, self.context.catalog)
        if call is not None and clause:
            help = "move the condition to HAVING" if clause == "WHERE" else "aggregate in SELECT"
            message = f"`{name_of_call(call)}` aggregates rows, which {clause} cannot do"
            raise error_at(PlanError, message, call, help)
        return rewrite(node, self._resolve)

    def _resolve(self, node: exp.Expr) -> exp.Expr | None:
        return self.find(node, strict=True) if isinstance(node, exp.Column) else None

    def find(self, column: exp.Column, strict: bool = False) -> exp.Expr | None:
        """What a column means here; None (or an error) if it is unknown."""
        return self.scope.resolve(column) if strict else self.scope.find(column)

    @property
    def schema(self) -> Schema:
        """The columns that expressions may read."""
        return self.plan.schema + self.outer

    def scalar(self, node: exp.Expr) -> Scalar:
        """A bound expression with its type."""
        # DuckDB sees only the columns that are read: there can be very many.
        used = columns_of(node)
        schema = self.schema.select(name for name in self.schema.names if name in used)
        return Scalar(node, type_of(node, schema, self.context.catalog.functions))

    def condition(self, node: exp.Expr, clause: str) -> Scalar:
        """A bound predicate."""
        scalar = self.scalar(node)
        check_boolean(node, scalar.type, clause)
        return scalar

    def filter(self, node: exp.Expr | None, clause: str) -> None:
        """Keep the rows for which a bound predicate is true."""
        if node is not None:
            self.plan = Filter(self.plan, self.condition(node, clause))


def with_column(plan: Plan, name: str, scalar: Scalar) -> Plan:
    """The plan with one more column."""
    kept = tuple((field.name, column(field.name, field.type)) for field in plan.schema)
    return Project(plan, (*kept, (name, scalar)))
