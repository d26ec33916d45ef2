"""Answers of running queries, kept as far as they are known."""

from tidemill.engine.kept.log import RowLog
from tidemill.engine.kept.results import KeptResults
from tidemill.engine.kept.store import KeptStore

__all__ = ["KeptResults", "KeptStore", "RowLog"]
