"""Results on standard output, everything else on standard error."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from tidemill.errors import PlanWarning, TidemillError
from tidemill.shell.backend import ShellRows
from tidemill.terminal.diagnostics import show
from tidemill.terminal.tables import Format, csv_text, json_text, rich_table

SCREENFUL = 40


class Printer:
    """Prints answers in a format, and notes for people beside them."""

    def __init__(self, out: TextIO, notes: TextIO, format: Format = Format.TABLE) -> None:
        self.out = Console(file=out, highlight=False)
        self.notes = Console(file=notes, highlight=False)
        self.format = format

    @property
    def is_live(self) -> bool:
        """Whether people see the results, in a place that can be drawn anew."""
        return self.out.is_terminal and not self.out.is_dumb_terminal

    def table(self, rows: ShellRows, more: str = "") -> None:
        """Print an answer; people get a screenful, and are told what gives them `more`."""
        if self.format is Format.TABLE:
            shown = rows.table.slice(0, SCREENFUL)
            self.plain(rich_table(shown) if shown.num_rows else "no rows")
            self._say_rest(rows.table.num_rows - shown.num_rows, rows.truncated, more)
            return
        write = csv_text if self.format is Format.CSV else json_text
        self.out.file.write(write(rows.table))
        self.out.file.flush()
        self._say_rest(0, rows.truncated, "")

    def _say_rest(self, left_out: int, truncated: bool, more: str) -> None:
        if truncated:
            self.note("… and more rows")
        elif left_out:
            self.note(f"… and {left_out:,} more rows{more}")

    def plain(self, shown: RenderableType) -> None:
        """Print something for people; it keeps its width if it goes to a file or a pipe."""
        console = self.out
        width = None if console.is_terminal else max(console.measure(shown).maximum, 80)
        console.print(shown, width=width, soft_wrap=not console.is_terminal)

    def facts(self, *facts: tuple[str, str]) -> None:
        """Print names with their values below a table, if people read it."""
        if self.format is Format.TABLE:
            for name, value in facts:
                if value:
                    self.plain(Text.assemble((f"{name}: ", "dim"), value))

    def note(self, text: str) -> None:
        """Tell people something that is no result."""
        self.notes.print(Text(text, style="dim"), soft_wrap=True)

    def message(self, message: TidemillError | PlanWarning) -> None:
        """Print an error or a warning."""
        show(self.notes, message)
