"""Answers of running queries, kept as far as they are known."""

from tidemill.engine.kept.log import AnswerLog
from tidemill.engine.kept.results import KeptResults
from tidemill.engine.kept.store import KeptStore

__all__ = ["AnswerLog", "KeptResults", "KeptStore"]
