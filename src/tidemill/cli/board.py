"""How started queries are doing: a table on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidemill import Progress, Query
from tidemill.engine.started import StartedQueries
from tidemill.timeline import BEGIN, TimeDomain

_PAUSE = 0.1
_SECONDS_BETWEEN_LINES = 10.0
_COLUMNS = ("rows in", "rows/s", "rows out", "late", "watermark")


@dataclass(frozen=True)
class BoardEntry:
    """A started query under the name that people know it by."""

    name: str
    query: Query

    @property
    def progress(self) -> Progress:
        """The progress of the sources that the query reads, and of its results."""
        now = self.query.progress
        read = {info.name for info in self.query.sources.values()}
        sources = {name: source for name, source in now.sources.items() if name in read}
        return Progress(now.ticks, now.rows_out, sources, now.operators, now.phases, now.seconds)

    @property
    def cells(self) -> tuple[str, ...]:
        """What the table says: one text for each column."""
        now = self.progress
        return (
            f"{now.rows_in:,}",
            f"{now.rows_per_second:,.0f}",
            f"{now.rows_out:,}",
            f"{now.late_rows:,}",
            watermark(now, self.query.planned.domain),
        )


def watermark(progress: Progress, domain: TimeDomain | None) -> str:
    """How far all sources have come, as people tell the time.

    >>> watermark(Progress(), TimeDomain.TICKS)
    'end'
    """
    marks = [s.watermark for s in progress.sources.values() if s.watermark is not None]
    if not marks:
        return "end"
    if min(marks) == BEGIN:
        return ""
    if domain is not TimeDomain.MICROSECONDS:
        return f"{min(marks):,}"
    return f"{datetime.fromtimestamp(min(marks) / 1_000_000, UTC):%Y-%m-%d %H:%M:%S}"


class Board:
    """The progress of queries that run together, read anew whenever it is drawn."""

    def __init__(self, entries: Sequence[BoardEntry]) -> None:
        self._entries = entries
        self._began = time.monotonic()

    def __rich__(self) -> Group:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column("query")
        for name in _COLUMNS:
            table.add_column(name, justify="right", style="cyan" if name == "watermark" else "")
        for entry in self._entries:
            table.add_row(Text(entry.name), *entry.cells)
        return Group(table, Text(self.footer, style="dim"))

    @property
    def ticks(self) -> int:
        """How many ticks there were; all queries share them."""
        return self._entries[0].query.progress.ticks

    @property
    def footer(self) -> str:
        """What the queries have in common: every tick is one pass over all sources."""
        now = self._entries[0].query.progress
        seconds = time.monotonic() - self._began
        state = sum(operator.state_rows for operator in now.operators)
        size = sum(operator.state_bytes for operator in now.operators) / 2**20
        return f"tick {self.ticks}, {state:,} rows of state ({size:,.1f} MiB), {seconds:.0f} s"

    @property
    def lines(self) -> list[str]:
        """The same as plain lines."""
        named = [zip(_COLUMNS, entry.cells, strict=True) for entry in self._entries]
        texts = [", ".join(f"{name} {cell}" for name, cell in cells if cell) for cells in named]
        rows = [f"{e.name}: {text}" for e, text in zip(self._entries, texts, strict=True)]
        return [*rows, self.footer]


def watch(console: Console, running: StartedQueries, entries: Sequence[BoardEntry]) -> None:
    """Show how queries are doing until they end; an error of theirs is raised."""
    board = Board(entries)
    if console.is_terminal:
        # What sinks print goes above the table, but never from a pipe to the terminal.
        both = Console().is_terminal
        live = Live(board, console=console, refresh_per_second=4, redirect_stdout=both)
        with live:
            _wait(running)
    else:
        try:
            _wait(running, _Log(console, board))
        finally:
            console.print("\n".join(board.lines), highlight=False, soft_wrap=True)
    running.await_termination()


def _wait(running: StartedQueries, meanwhile: Callable[[], None] = lambda: None) -> None:
    # (Waiting for Spark itself would keep Ctrl-C from getting through.)
    while running.is_active:
        time.sleep(_PAUSE)
        meanwhile()


class _Log:
    """A line now and then, if something has happened."""

    def __init__(self, console: Console, board: Board) -> None:
        self._console = console
        self._board = board
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        self._ticks = 0

    def __call__(self) -> None:
        if time.monotonic() >= self._next and self._board.ticks > self._ticks:
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
            self._ticks = self._board.ticks
            self._console.print(self._board.footer, highlight=False)
