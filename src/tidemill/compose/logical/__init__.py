"""The logical operators: every one that the language can say."""

from tidemill.compose.logical import groups, joins, objects, rows, sets, shedding, sources, windows

OPERATORS = (
    *sources.OPERATORS,
    *windows.OPERATORS,
    *rows.OPERATORS,
    *joins.OPERATORS,
    *shedding.OPERATORS,
    *groups.OPERATORS,
    *objects.OPERATORS,
    *sets.OPERATORS,
)

__all__ = ["OPERATORS"]
