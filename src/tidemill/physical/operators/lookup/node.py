"""Lookup: rows find their partners in a relation when they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tidemill.algebra.nodes import AntiJoin, Join, SemiJoin, SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.algebra.schema import Schema
from tidemill.expressions import UserFunction
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.keys import KeyColumns
from tidemill.physical.mechanisms.pairs import Condition
from tidemill.physical.operator import Exec, InstantExec, Operator
from tidemill.physical.operators.lookup.bounds import bound_of
from tidemill.physical.operators.lookup.operator import InnerLookup, PartnerLookup
from tidemill.physical.operators.lookup.relation import Relation

Columns = tuple[str, ...]


class LookupKind(Enum):
    """What becomes of a row."""

    INNER = "inner"  # it comes out with each of its partners
    SEMI = "semi"  # it comes out if it has a partner
    ANTI = "anti"  # it comes out if it has none


_MEANINGS: dict[LookupKind, type[Join | SemiJoin | AntiJoin]] = {
    LookupKind.INNER: Join,
    LookupKind.SEMI: SemiJoin,
    LookupKind.ANTI: AntiJoin,
}


@dataclass(frozen=True)
class LookupExec(InstantExec):
    """Join rows with the rows of a relation that hold when they start.

    That is the join as it is defined if the relation is constant, or if the rows of the left
    side hold for one instant only. `keys` are columns of the left side and of the relation that
    must be equal, position by position; without keys, the whole relation is looked through.
    `version` is the column that tells which row of a time-varying relation a change is about.
    Rows that streams bring never wait for such a relation: what changes later counts from after
    them. But rows `ahead` of all streams have to, for their instant is still to come.
    """

    left: Exec
    relation: Exec
    kind: LookupKind
    source: SourceKind
    keys: tuple[Columns, Columns] = ((), ())
    conditions: tuple[Scalar, ...] = ()
    null_safe: tuple[bool, ...] = ()
    version: str | None = None
    functions: tuple[UserFunction, ...] = ()
    ahead: bool = False

    together = Partitioning.OWN
    paced_by = PacedBy.FIRST

    @cached_property
    def schema(self) -> Schema:
        return self.pairs if self.kind is LookupKind.INNER else self.left.schema

    @cached_property
    def pairs(self) -> Schema:
        """The columns of a row together with those of a partner."""
        return self.left.schema + self.relation.schema

    @property
    def safe_keys(self) -> tuple[bool, ...]:
        """For every key column, whether NULL equals NULL."""
        return self.null_safe or (False,) * len(self.keys[0])

    def details(self) -> str:
        equal = [
            f"{one} {'<=>' if safe else '='} {other}"
            for one, other, safe in zip(*self.keys, self.safe_keys, strict=True)
        ]
        how = f"keys=[{', '.join(equal)}]" if equal else "all pairs"
        where = " AND ".join(map(str, self.conditions))
        return f"{self.kind.value} {self.source.value} {how}" + (f" where {where}" if where else "")

    @property
    def condition(self) -> Scalar | None:
        """All that a row and its partner must meet, as one condition."""
        equal = [
            equality(column(one, self.pairs[one]), column(other, self.pairs[other]), null_safe=safe)
            for one, other, safe in zip(*self.keys, self.safe_keys, strict=True)
        ]
        return conjunction(*equal, *self.conditions)

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        return (self._waits and not complete, True)

    @property
    def _waits(self) -> bool:
        """Whether rows wait for a relation that is not complete."""
        return self.source is not SourceKind.CHANGING or self.ahead

    @cached_property
    def validity(self) -> RowValidity:
        return self.left.validity

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return _MEANINGS[self.kind](inputs[0], inputs[1], self.condition)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        # By key, a row finds about one other.
        pairs = self.kind is LookupKind.INNER and not self.keys[0]
        return inputs[0] * (inputs[1] if pairs else 1)

    def operator(self) -> Operator:
        relation = Relation(
            self.relation.schema,
            self.keys[1],
            self.safe_keys,
            self.source,
            self.version,
            bound_of(self.conditions, self.left.schema, self.relation.schema),
        )
        keys = KeyColumns(self.keys[0], self.safe_keys)
        conditions = [Condition(part, self.pairs, self.functions) for part in self.conditions]
        if self.kind is LookupKind.INNER:
            return InnerLookup(self.left.schema, relation, keys, conditions, self._waits)
        wanted = self.kind is LookupKind.SEMI
        return PartnerLookup(self.left.schema, relation, keys, conditions, self._waits, wanted)
