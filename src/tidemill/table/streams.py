"""Steps from streams to what holds at an instant, and back: windows, granules, ISTREAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sqlglot import exp

from tidemill.sql import StreamFunction, WindowTable
from tidemill.table import blocks, sizes
from tidemill.table.names import identifier
from tidemill.table.sizes import Size

__all__ = ["StreamSteps"]


@dataclass(frozen=True, repr=False, eq=False)
class StreamSteps:
    """The steps of a table that are about time."""

    tree: exp.Expr

    def window(
        self,
        *,
        range: Size | tuple[Size, Size] | None = None,
        rows: int | tuple[int, int] | None = None,
        session: Size | None = None,
        unbounded: bool = False,
        now: bool = False,
        slide: Size | None = None,
        delay: Size | None = None,
        partition_by: str | Sequence[str] = (),
    ) -> Self:
        """The rows of a stream that a window holds, at each instant.

        A pair of sizes, `rows=(10, 100)`, bounds one that may vary.
        """
        made = sizes.window(
            range=range,
            rows=rows,
            session=session,
            unbounded=unbounded,
            now=now,
            slide=slide,
            delay=delay,
            partition_by=partition_by,
        )
        return self._with_entry("stream_window", made)

    def granularity(
        self,
        size: Size | None = None,
        *,
        coarsest: Size | None = None,
        finest: Size | None = None,
    ) -> Self:
        """The rows with starts and ends at multiples of a size only."""
        return self._with_entry("granularity", sizes.granularity(size, coarsest, finest))

    def tumble(self, time: str, size: Size) -> Self:
        """The windows of a size, one after the other, with their ends as columns."""
        return self._window_table("TUMBLE", time, size=size)

    def hop(self, time: str, slide: Size, size: Size) -> Self:
        """The windows of a size that begin at multiples of `slide`."""
        return self._window_table("HOP", time, slide=slide, size=size)

    def cumulate(self, time: str, step: Size, size: Size) -> Self:
        """The windows of a size, and their beginnings, longer by `step` each."""
        return self._window_table("CUMULATE", time, step=step, size=size)

    def istream(self) -> Self:
        """The rows that come."""
        return self._stream("ISTREAM")

    def dstream(self) -> Self:
        """The rows that go."""
        return self._stream("DSTREAM")

    def rstream(self) -> Self:
        """The rows, once for every instant."""
        return self._stream("RSTREAM")

    def _with(self, tree: exp.Expr) -> Self:
        return replace(self, tree=tree)

    def _with_entry(self, clause: str, made: exp.Expr) -> Self:
        source = blocks.entry(self.tree)
        is_plain = not (source.args.get("granularity") or source.args.get(clause))
        if not is_plain or not isinstance(source, exp.Table | exp.Subquery):
            source = exp.Subquery(this=blocks.block(source))
        source.set(clause, made)
        return self._with(blocks.block(source))

    def _window_table(self, kind: str, time: str, **lengths: Size) -> Self:
        given: dict[str, Any] = {name: sizes.duration(size) for name, size in lengths.items()}
        source = blocks.entry(self.tree)
        made = WindowTable(kind=kind, data=source, timecol=identifier(time), **given)
        return self._with(blocks.block(exp.Table(this=made)))

    def _stream(self, kind: str) -> Self:
        inner = blocks.entry(self.tree) if blocks.is_bare(self.tree) else self.tree.copy()
        function = StreamFunction(this=inner, kind=kind)
        return self._with(blocks.block(exp.Table(this=function)))
