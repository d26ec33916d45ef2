"""Answers on standard output."""

from __future__ import annotations

import pyarrow as pa
import typer
from rich.console import Console

from tidemill.engine import Report
from tidemill.terminal.tables import Format, csv_text, json_text, rich_table

SCREENFUL = 40


def print_answer(table: pa.Table, format: Format, limit: int | None) -> None:
    """Print the rows of an answer, or as many as one wants to see."""
    most = limit if limit is not None else SCREENFUL if format is Format.TABLE else 0
    part = table.slice(0, most) if most else table
    if format is Format.CSV:
        typer.echo(csv_text(part), nl=False)
    elif format is Format.JSON:
        typer.echo(json_text(part), nl=False)
    else:
        _print_table(part, table.num_rows - part.num_rows)


def print_report(report: Report, format: Format) -> None:
    """Print what SHOW, DESCRIBE or EXPLAIN answers; a plan as its lines."""
    if report.is_plan and format is Format.TABLE:
        typer.echo(str(report))
    else:
        print_answer(report.table, format, 0)


def _print_table(table: pa.Table, left_out: int) -> None:
    console = Console(highlight=False)
    if not table.num_rows:
        console.print("no rows")
        return
    shown = rich_table(table)
    # A table that goes to a file or a pipe keeps its width.
    width = None if console.is_terminal else max(console.measure(shown).maximum, 80)
    console.print(shown, width=width, soft_wrap=not console.is_terminal)
    if left_out:
        console.print(f"… and {left_out:,} more rows (--limit 0 prints all)", style="dim")


class ResultPrinter:
    """A sink that prints the rows of each tick as they become known."""

    def __init__(self, format: Format) -> None:
        self._format = format
        self._began = False

    def __call__(self, rows: pa.Table, tick: int) -> None:
        if not rows.num_rows:
            return
        time = "valid_from" if "valid_from" in rows.column_names else "changed_at"
        rows = rows.sort_by(time)
        if self._format is Format.CSV:
            text = csv_text(rows)
            typer.echo(text.partition("\n")[2] if self._began else text, nl=False)
            self._began = True
        else:
            print_answer(rows, self._format, 0)
