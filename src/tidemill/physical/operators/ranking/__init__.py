"""The first objects of every instant, by a score: with less state than grouping and sorting."""

from tidemill.physical.operators.ranking.node import RankExec

__all__ = ["RankExec"]
