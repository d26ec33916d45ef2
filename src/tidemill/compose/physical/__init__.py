"""The physical operators: those that a plan is run with, as it says."""

from tidemill.compose.physical import groups, joins, rows, sets, sources, windows

OPERATORS = (
    *sources.OPERATORS,
    *windows.OPERATORS,
    *rows.OPERATORS,
    *joins.OPERATORS,
    *groups.OPERATORS,
    *sets.OPERATORS,
)

__all__ = ["OPERATORS"]
