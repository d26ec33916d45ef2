"""Subqueries that mention columns of the query around them.

A condition on such columns moves into the join of the two queries where it can. Where it
cannot, say below an aggregation, the subquery is planned for all values of the columns at once:
the *domain*, their distinct values, joins the subquery's FROM and is carried up to its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Distinct, Plan, Project, column
from tidemill.algebra.scalar import column_node
from tidemill.analyze.context import Context
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import columns_of, placed, rewrite


@dataclass(frozen=True)
class Domain:
    """The distinct values of columns of the query around, under names of their own."""

    plan: Plan
    names: dict[str, str]

    @staticmethod
    def of(stage: PlanStage, columns: Iterable[str], context: Context) -> Domain:
        """The domain of some columns of a plan."""
        names = {name: context.fresh("outer") for name in columns}
        items = tuple((new, column(old, stage.plan.schema[old])) for old, new in names.items())
        return Domain(Distinct(Project(stage.plan, items)), names)

    def matches(self) -> list[exp.Expr]:
        """The conditions that lead from the result back to the rows around; NULLs match too."""
        return [
            exp.NullSafeEQ(this=column_node(old), expression=column_node(new))
            for old, new in self.names.items()
        ]


@dataclass
class Link:
    """The way from a subquery to the stage of the query around it.

    With a domain, columns of that query are read from there; without, they are mentioned
    directly. `used` collects them; `is_deep` tells that one stands where it cannot move from.
    """

    stage: PlanStage
    domain: Domain | None = None
    is_trial: bool = False
    used: dict[str, None] = field(default_factory=dict)
    is_deep: bool = False
    _direct: bool = False

    def find(self, node: exp.Column) -> exp.Expr | None:
        """The meaning of a column in the query around."""
        found = self.stage.find(node)
        return None if found is None else self._seen_from_inside(found)

    def _seen_from_inside(self, found: exp.Expr) -> exp.Expr:
        self.note(columns_of(found))
        return found if self.domain is None else rewrite(found, self._rename)

    def _rename(self, node: exp.Expr) -> exp.Expr | None:
        assert self.domain is not None
        return placed(self.domain.names[node.name], node) if isinstance(node, exp.Column) else None

    def note(self, columns: Iterable[str]) -> None:
        """Remember that columns of the query around are used."""
        new = sorted(columns)
        self.used.update(dict.fromkeys(new))
        self.is_deep = self.is_deep or bool(new and not self._direct)

    @contextmanager
    def direct(self) -> Iterator[None]:
        """Mark a place from which conditions can move into the join."""
        self._direct = True
        try:
            yield
        finally:
            self._direct = False

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns that the domain adds to the subquery."""
        return () if self.domain is None else tuple(self.domain.names.values())


def trial_link(stage: PlanStage, context: Context) -> Link:
    """A link that finds out which columns a subquery uses: all are there."""
    return Link(stage, Domain.of(stage, stage.plan.schema.names, context), is_trial=True)
