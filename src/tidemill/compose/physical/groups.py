"""Groups of rows, and the first rows."""

from __future__ import annotations

from tidemill.compose.physical.making import operator_like

OPERATORS = (
    operator_like(
        "aggregate",
        "Aggregates the rows of each group at every instant, with running totals.",
    ),
    operator_like("top", "Keeps all rows sorted, and gives the first ones."),
)
