"""Star joins: streams that meet through a relation, with bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, reduce
from operator import add

from tidemill.algebra.nodes import Filter, Join, Project, TimeWindow
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import version_column
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.algebra.schema import Schema
from tidemill.errors import PlanError

Columns = tuple[str, ...]


class Policy(Enum):
    """Which row goes when memory is full: that with the least priority."""

    SIMP = "simp"  # its importance
    SIMPPROB = "simpprob"  # importance times matches in the other windows, at arrival
    DIMPPROB = "dimpprob"  # the same, at every instant
    DGL = "dgl"  # rises with what a row gives, falls while it gives nothing
    SEMANTIC = "semantic"  # matches in the other windows, at every instant
    RANDOM = "random"


@dataclass(frozen=True)
class Shedding:
    """A bound on the rows that all streams of a join keep together, and how to stay below it.

    `importances` are numeric columns, one of each stream; None counts as 1 for every row. `alpha`
    and `beta` belong to DGL, `seed` to RANDOM.
    """

    rows: int
    importances: tuple[str | None, ...]
    policy: Policy = Policy.DGL
    alpha: float = 1.0
    beta: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.alpha <= 0 or self.beta < 0:
            given = f"alpha {self.alpha:g} and beta {self.beta:g}"
            raise PlanError(
                f"invalid parameters of the policy: {given}",
                help="alpha must be more than 0, beta at least 0",
            )

    def __str__(self) -> str:
        return f"shed to {self.rows} rows using {self.policy.value}"


@dataclass(frozen=True)
class StarJoin(Plan):
    """Combinations of one row of each stream and a row of a relation that matches them all.

    The row of the relation must be active when each of the rows of streams arrives. Streams are
    time windows. `stream_keys[i]` are columns of stream i, which equal the columns
    `relation_keys[i]` of the relation, position by position. Results are part of those of `exact`;
    all of them, as long as memory suffices.
    """

    streams: tuple[Plan, ...]
    relation: Plan
    stream_keys: tuple[Columns, ...]
    relation_keys: tuple[Columns, ...]
    shedding: Shedding
    conditions: tuple[Scalar, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return reduce(add, (stream.schema for stream in self.streams)) + self.relation.schema

    def details(self) -> str:
        pairs = [
            f"{one} = {other}"
            for mine, theirs in zip(self.stream_keys, self.relation_keys, strict=True)
            for one, other in zip(mine, theirs, strict=True)
        ]
        on = " AND ".join([*pairs, *map(str, self.conditions)])
        return f"on {on} {self.shedding}"

    @property
    def version(self) -> str | None:
        """The column that tells the rows of a time-varying relation apart."""
        return version_column(self.relation)

    @property
    def condition(self) -> Scalar | None:
        """All that the rows of a result meet."""
        equal = (_equal(stream, m, self.relation, t) for stream, m, t in self._parts())
        return conjunction(*equal, *self.conditions)

    @property
    def reads(self) -> frozenset[str]:
        """The columns that the join looks at."""
        condition = self.condition
        tested = frozenset[str]() if condition is None else condition.columns
        others = (*self.shedding.importances, self.version)
        return tested | {name for name in others if name is not None}

    @cached_property
    def exact(self) -> Plan:
        """The same join without a bound."""
        plan = self._through_rows() if self.version is None else self._through_versions()
        condition = conjunction(*self.conditions)
        return plan if condition is None else Filter(plan, condition)

    def _through_rows(self) -> Plan:
        """Rows that never change are there whenever a row of a stream arrives."""
        plan = self.relation
        for stream, mine, theirs in self._parts():
            plan = Join(plan, stream, _equal(plan, theirs, stream, mine))
        return _only(plan, self.schema)

    def _through_versions(self) -> Plan:
        """Every stream looks up the relation when rows arrive; they must find the same row."""
        version = self.version
        assert version is not None
        plan: Plan | None = None
        for number, (stream, mine, theirs) in enumerate(self._parts()):
            relation, names = self.relation, self.relation.schema.names
            if number:
                relation = Project.renaming(self.relation, tuple(f"#{number}.{n}" for n in names))
                theirs = tuple(f"#{number}.{name}" for name in theirs)
            assert isinstance(stream, TimeWindow)
            looked_up = Join(stream.child, relation, _equal(stream.child, mine, relation, theirs))
            kept = replace(stream, child=looked_up)
            same = (f"#{number}.{version}",)
            plan = kept if plan is None else Join(plan, kept, _equal(plan, (version,), kept, same))
        assert plan is not None
        return _only(plan, self.schema)

    def _parts(self) -> list[tuple[Plan, Columns, Columns]]:
        return list(zip(self.streams, self.stream_keys, self.relation_keys, strict=True))


def _equal(left: Plan, mine: Columns, right: Plan, theirs: Columns) -> Scalar | None:
    pairs = zip(mine, theirs, strict=True)
    return conjunction(
        *(
            equality(column(one, left.schema[one]), column(other, right.schema[other]))
            for one, other in pairs
        )
    )


def _only(plan: Plan, schema: Schema) -> Plan:
    return Project(plan, tuple((field.name, column(field.name, field.type)) for field in schema))
