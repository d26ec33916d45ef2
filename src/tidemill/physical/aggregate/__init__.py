"""Grouping with aggregation, for all instants at once."""

from tidemill.physical.aggregate.operator import AggregateExec

__all__ = ["AggregateExec"]
