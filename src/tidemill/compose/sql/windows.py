"""Windows and granularities after entries of FROM."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import Any

from sqlglot import exp

from tidemill.algebra import CountWindow, Granularity, SessionWindow, TimeWindow
from tidemill.algebra.plan import Plan
from tidemill.analyze.windows import shown
from tidemill.compose.sql.block import Block, CannotSay
from tidemill.compose.sql.writer import Writer
from tidemill.compose.texts import identifier, length
from tidemill.sql import GranularityClause as GranularityClause
from tidemill.sql import RowCount, StreamWindow, Unbounded


class WindowWriter(Writer):
    """Writes windows."""

    @singledispatchmethod
    def window_rule(self, plan: Plan) -> Block:
        """How a window is written."""
        raise CannotSay(f"SQL cannot express {type(plan).__name__}", help="use other operators")

    def window_clause(self, window: TimeWindow | CountWindow) -> StreamWindow:
        """A window as it is written after an entry, without its partitions."""
        counts = isinstance(window, CountWindow)
        clause = StreamWindow(kind="ROWS" if counts else "RANGE", **self._sizes(window))
        if window.slide != 1:
            clause.set("slide", _rows(window.slide) if counts else self._length(window.slide))
        if isinstance(window, TimeWindow) and window.delay:
            clause.set("delay", self._length(window.delay))
        return clause

    @window_rule.register
    def _timewindow(self, plan: TimeWindow) -> Block:
        return self._with_clause(plan, "stream_window", self.window_clause(plan))

    @window_rule.register
    def _countwindow(self, plan: CountWindow) -> Block:
        window = self.window_clause(plan)
        return self._partitioned(plan, window)

    @window_rule.register
    def _sessionwindow(self, plan: SessionWindow) -> Block:
        window = StreamWindow(kind="SESSION", size=self._length(plan.gap))
        return self._partitioned(plan, window)

    def _partitioned(self, plan: CountWindow | SessionWindow, window: StreamWindow) -> Block:
        block = self._with_clause(plan, "stream_window", window)
        if plan.partition_by:
            columns = [exp.column(identifier(block.columns[c].name)) for c in plan.partition_by]
            window.set("partition_by", columns)
        return block

    @window_rule.register
    def _granularity(self, plan: Granularity) -> Block:
        node = GranularityClause(size=self._length(plan.granule))
        if plan.bounds is not None:
            finest, coarsest = (self._length(size) for size in plan.bounds[:2])
            node = GranularityClause(finest=finest, coarsest=coarsest)
        return self._with_clause(plan, "granularity", node)

    def _with_clause(self, plan: Any, clause: str, node: exp.Expr) -> Block:
        """Put a window or a granularity after the entry that it is about.

        What looks at single rows may stand above it just as well, unless rows are counted.
        """
        block = self.block(plan.child)
        counts = isinstance(plan, CountWindow | SessionWindow)
        fits = block.is_open and (block.is_bare if counts else block.is_rows)
        entry = block.entry
        if not fits or entry is None or _has_clause(entry.node, clause):
            block = self.wrapped(block, plan.child)
            entry = block.entry
        assert entry is not None
        entry.node.set(clause, node)
        return block

    def _sizes(self, plan: TimeWindow | CountWindow) -> dict[str, exp.Expr]:
        size = _rows if isinstance(plan, CountWindow) else self._length
        if plan.changes:
            raise CannotSay("SQL cannot tell how sizes were changed", help="use the query itself")
        if plan.bounds is not None:
            return {"min": size(plan.bounds.low), "max": size(plan.bounds.high)}
        return {"size": Unbounded() if plan.first is None else size(plan.first)}

    def _length(self, size: int) -> exp.Expr:
        return length(shown(size, self.domain))


def _rows(number: int) -> RowCount:
    return RowCount(this=exp.Literal.number(number))


def _has_clause(node: exp.Expr, clause: str) -> bool:
    if clause == "granularity":
        return bool(node.args.get("granularity"))
    return bool(node.args.get("stream_window") or node.args.get("granularity"))
