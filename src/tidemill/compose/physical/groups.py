"""Groups of rows, and the first rows."""

from __future__ import annotations

from tidemill.compose.physical.making import operator_like

OPERATORS = (
    operator_like(
        "aggregate",
        "Aggregates the rows of each group at every instant, with running totals.",
    ),
    operator_like(
        "over_rows", "Computes functions over rows, for all rows of a partition that changes."
    ),
    operator_like("top", "Keeps all rows sorted, and gives the first ones."),
)
