"""Grouping with aggregation, for all instants at once."""

from tidemill.physical.operators.aggregate.operator import AggregateExec

__all__ = ["AggregateExec"]
