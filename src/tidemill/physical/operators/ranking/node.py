"""The node of rankings in physical plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Ranked, Ranking, Strategy
from tidemill.algebra.schema import Field, Schema
from tidemill.expressions.functions import UserFunction
from tidemill.physical.facts import NEVER, PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator
from tidemill.timeline import add


@dataclass(frozen=True)
class RankExec(Exec):
    """The first objects of every instant, by a score that rises while rows come.

    The child's rows hold for one instant each; the window is part of what is `ranked`.
    """

    child: Exec
    ranked: Ranked
    functions: tuple[UserFunction, ...] = ()
    eager: int = 0

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, scalar.type) for name, scalar in self.ranked.items))

    def details(self) -> str:
        return str(self.ranked)

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity()

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Ranking(inputs[0], self.ranked)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0]

    def through(self, missed: int) -> int:
        size = self.ranked.size
        return NEVER if size is None else add(missed - 1, size)

    @property
    def is_whole(self) -> bool:
        return True

    def operator(self) -> Operator:
        # Not before it is needed: compiled parts take a moment even where they are kept.
        if self.ranked.strategy is Strategy.APPROXIMATE:
            from tidemill.physical.operators.ranking.approximate import ApproximateRank

            return ApproximateRank(self)
        from tidemill.physical.operators.ranking.operator import Rank
        from tidemill.physical.operators.ranking.sorted import SortedRank

        return SortedRank(self) if self.ranked.strategy is Strategy.SLA else Rank(self)
