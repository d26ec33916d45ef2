"""Star join: streams meet through a relation, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

from tidemill.algebra import Shedding, StarJoin
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import version_column
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.expressions import UserFunction
from tidemill.physical.facts import NEVER, PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator
from tidemill.physical.operators.star.operator import StarJoinOperator

Columns = tuple[str, ...]


@dataclass(frozen=True)
class StarJoinExec(Exec):
    """Combinations of a row of each stream and a row of the relation, as `StarJoin` means them.

    The relation is constant, or it changes and has a column of `VERSION`. In several partitions,
    each has a part of what a constant relation connects, and of the memory.
    """

    streams: tuple[Exec, ...]
    relation: Exec
    stream_keys: tuple[Columns, ...]
    relation_keys: tuple[Columns, ...]
    shedding: Shedding
    conditions: tuple[Scalar, ...] = ()
    functions: tuple[UserFunction, ...] = ()
    partitions: int = 1

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return reduce(add, (stream.schema for stream in self.streams)) + self.relation.schema

    @property
    def version(self) -> str | None:
        """The column that tells rows of a changing relation apart."""
        return version_column(self.relation)

    def details(self) -> str:
        return StarJoin(
            self.streams,
            self.relation,
            self.stream_keys,
            self.relation_keys,
            self.shedding,
            self.conditions,
        ).details()

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(all(child.validity.chronon for child in self.children))

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        *streams, relation = inputs
        keys = (self.stream_keys, self.relation_keys)
        return StarJoin(tuple(streams), relation, *keys, self.shedding, self.conditions)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return sum(inputs)

    def through(self, missed: int) -> int:
        return NEVER  # which rows are kept depends on all rows before

    @property
    def is_whole(self) -> bool:
        return True

    def operator(self) -> Operator:
        return StarJoinOperator(self)
