"""What SHOW, DESCRIBE and EXPLAIN answer: a small table that is true now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

PLAN = "plan"


@dataclass(frozen=True)
class Report:
    """A table of texts; it prints as one, or line by line if it is a plan.

    >>> print(report_of(("name", "kind"), [("bid", "stream"), ("hot", "query")]))
    name  kind
    bid   stream
    hot   query
    """

    table: pa.Table

    def collect(self) -> pa.Table:
        """The table, as a query gives its own."""
        return self.table

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        return list(self.table.to_pylist())

    @property
    def is_plan(self) -> bool:
        """Whether its rows are the lines of a text."""
        return bool(self.table.column_names == [PLAN])

    def _repr_html_(self) -> str:
        from tidemill.notebook.queries import report_html

        return report_html(self.table, str(self) if self.is_plan else None)

    def __str__(self) -> str:
        rows = [tuple(row.values()) for row in self.table.to_pylist()]
        if self.is_plan:
            return "\n".join(line for (line,) in rows)
        lines = [tuple(self.table.column_names), *rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = (zip(line, widths, strict=True) for line in lines)
        return "\n".join("  ".join(t.ljust(w) for t, w in line).rstrip() for line in padded)


def report_of(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Report:
    """A table of texts."""
    values: Mapping[str, list[str]] = {
        name: [row[environment] for row in rows] for environment, name in enumerate(columns)
    }
    return Report(pa.table(values, pa.schema([(name, pa.string()) for name in columns])))


def plan_report(text: str) -> Report:
    """The lines of a plan."""
    return report_of((PLAN,), [(line,) for line in text.splitlines()])
