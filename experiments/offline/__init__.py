"""Archived streams: the best join that a bounded memory could have given."""

from experiments.offline.best import best_join
from experiments.offline.result import BestJoin

__all__ = ["BestJoin", "best_join"]
