"""The node of rankings in physical plans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.ranking import Ranked, Strategy
from tidemill.algebra.schema import Field, Schema
from tidemill.expressions.functions import UserFunction
from tidemill.physical.operator import Exec, Operator


@dataclass(frozen=True)
class RankExec(Exec):
    """The first objects of every instant, by a score that rises while rows come.

    The child's rows hold for one instant each; the window is part of what is `ranked`.
    """

    child: Exec
    ranked: Ranked
    functions: tuple[UserFunction, ...] = ()
    eager: bool = False

    @cached_property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, scalar.type) for name, scalar in self.ranked.items))

    def details(self) -> str:
        return str(self.ranked)

    def operator(self) -> Operator:
        # Not before it is needed: compiled parts take a moment even where they are kept.
        if self.ranked.strategy is Strategy.APPROXIMATE:
            from tidemill.physical.ranking.approximate import ApproximateRank

            return ApproximateRank(self)
        from tidemill.physical.ranking.operator import Rank
        from tidemill.physical.ranking.sorted import SortedRank

        return SortedRank(self) if self.ranked.strategy is Strategy.SLA else Rank(self)
