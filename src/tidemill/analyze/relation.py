"""The result of planning a query: a plan, and the columns that the query asks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import AggregateCall, Plan, Project, Scalar, SortKey, column
from tidemill.analyze.trees import written
from tidemill.errors import PlanError
from tidemill.sql import error_at
from tidemill.timeline import VALID_FROM, VALID_TO


@dataclass(frozen=True)
class Output:
    """One column of a select list: its name, its value, and where it was written."""

    name: str
    scalar: Scalar
    node: exp.Expr


@dataclass(frozen=True)
class PlannedRelation:
    """A query whose last projection is still open, so that others can build on its plan.

    In a subquery, `carried` are the plan's columns that hold values of the query around it, and
    `moved` are conditions that mention that query's columns directly. `calls` are the aggregates
    of a query that always has exactly one row in SQL, by the column that they fill. `order` is that
    in which people see the rows of an instant, by outputs.
    """

    plan: Plan
    outputs: tuple[Output, ...]
    carried: tuple[str, ...] = ()
    moved: tuple[exp.Expr, ...] = ()
    calls: Mapping[str, AggregateCall] | None = field(default=None, hash=False)
    has_one_row: bool = False
    is_windowed: bool = False
    order: tuple[SortKey, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the select list."""
        return tuple(output.name for output in self.outputs)

    def close(self, names: Sequence[str]) -> Plan:
        """The plan with exactly the carried columns and the outputs, under these names."""
        plan = self.plan
        if plan.schema.names == (*self.carried, *names) and self._is_plain(names):
            return plan
        kept = ((name, column(name, plan.schema[name])) for name in self.carried)
        new = ((name, o.scalar) for name, o in zip(names, self.outputs, strict=True))
        return Project(plan, (*kept, *new))

    def _is_plain(self, names: Sequence[str]) -> bool:
        pairs = zip(names, self.outputs, strict=True)
        return all(o.scalar.is_column and o.scalar.node.name == name for name, o in pairs)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names made different from each other, for results without a name of their own.

    >>> unique_names(["a", "A", "b"])
    ('a', 'A_2', 'b')
    """
    return tuple(_numbered(names))


def _numbered(names: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        number, new = 1, name
        while new.casefold() in seen:
            number += 1
            new = f"{name}_{number}"
        seen.add(new.casefold())
        yield new


def check_names(outputs: Sequence[Output]) -> None:
    """Refuse two outputs of one name."""
    seen: set[str] = set()
    for output in outputs:
        if output.name.casefold() in seen:
            message = f"two columns of the result are named `{output.name}`"
            help = f"give one an alias: {written(output.node.unalias())} AS other_name"
            if output.node.is_star:
                help = "list the columns instead of `*`, and give one an alias"
            raise error_at(PlanError, message, output.node, help)
        seen.add(output.name.casefold())


def check_reserved(outputs: Sequence[Output]) -> None:
    """Refuse the names under which results carry their validity."""
    for output in outputs:
        if output.name.casefold() in (VALID_FROM, VALID_TO):
            message = f"`{output.name}` is a reserved name: every result has it for its validity"
            help = "give the column another name with AS"
            raise error_at(PlanError, message, output.node, help)
