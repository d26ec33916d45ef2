"""Archived streams: the best join that a bounded memory could have given."""

from tidemill.offline.best import best_join
from tidemill.offline.result import BestJoin

__all__ = ["BestJoin", "best_join"]
