"""Queries and reports as HTML: what they ask, their plan, and their first rows."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from tidemill.errors import PlanWarning, TidemillError, masked
from tidemill.explain import Explanation
from tidemill.notebook.html import code, folded, framed, note, rows_of
from tidemill.notebook.instants import instant_or_end
from tidemill.timeline import TimeDomain

_TO_SEE_ROWS = "no rows yet: head(), collect() and plot() run the query"


class ShownQuery(Protocol):
    """What is shown of a query."""

    sql: str

    @property
    def warnings(self) -> tuple[PlanWarning, ...]: ...

    def explanation(self, level: str = "logical") -> Explanation: ...

    def glance(self) -> pa.Table | None:
        """The answer, if that costs little; else None."""


def query_html(query: ShownQuery) -> str:
    """A query: its text, its plan, and its first rows if they can be had at little cost."""
    plan = folded("plan", code(masked(query.explanation().body)), is_open=True)
    warnings = "".join(code(str(warning)) for warning in query.warnings)
    return framed(code(masked(query.sql.strip())), plan, warnings, _first_rows(query))


def _first_rows(query: ShownQuery) -> str:
    """What goes wrong is shown in the place of rows: display must not fail."""
    try:
        answer = query.glance()
    except TidemillError as error:
        return code(masked(str(error)))
    return note(_TO_SEE_ROWS) if answer is None else rows_of(answer)


def report_html(table: pa.Table, plan: str | None) -> str:
    """What SHOW, DESCRIBE or EXPLAIN answered: all rows, or the lines of a plan."""
    return framed(rows_of(table, table.num_rows) if plan is None else code(plan))


def kept_html(table: pa.Table, until: int, domain: TimeDomain | None) -> str:
    """The answer of a running query at the newest instant that is complete."""
    title = note(f"complete until {instant_or_end(until, domain)}; the newest snapshot:")
    return framed(title, rows_of(table))
