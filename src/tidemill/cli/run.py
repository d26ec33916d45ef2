"""`tidemill run`: the answer to the last query of a script."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated

import pyarrow as pa
import typer
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from tidemill import Progress, Query, TidemillError
from tidemill.cli.report import reported
from tidemill.cli.script import Command, File, query_of
from tidemill.cli.tables import Format, csv_text, json_text, rich_table

_SCREENFUL = 40


def run(
    file: File = None,
    command: Command = None,
    format: Annotated[
        Format, typer.Option("--format", "-f", help="How to print the result.")
    ] = Format.TABLE,
    changes: Annotated[
        bool, typer.Option("--changes", help="Rows that come (+) and go (-), and when.")
    ] = False,
    snapshot: Annotated[
        str | None,
        typer.Option(metavar="AT", help="What holds at an instant: 42 or '2024-03-01 12:00'."),
    ] = None,
    coalesce: Annotated[
        bool, typer.Option("--coalesce", help="Merge equal rows whose intervals touch.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=0, help=f"Rows to print; 0 prints all. A table stops at {_SCREENFUL}."),
    ] = None,
) -> None:
    """Run a script and print the answer to its last query.

    Streams are declared in the script: CREATE STREAM ... SOURCE csv(path => 'bids/'). The formats
    are parquet, csv and json (one object per line). A relative path starts at the directory in
    which you call tidemill, not at the script. Results go to standard output, everything else to
    standard error.
    """
    notes = Console(stderr=True)
    with reported(notes):
        _check(changes, snapshot, coalesce)
        query = query_of(file, command)
        began = time.perf_counter()
        with Live(_Watched(query), console=notes, transient=True, refresh_per_second=8):
            table = _answer(query, changes, snapshot, coalesce)
        _print(table, format, limit)
        _summarize(notes, query.progress, time.perf_counter() - began)


def _check(changes: bool, snapshot: str | None, coalesce: bool) -> None:
    if changes and snapshot is not None:
        raise TidemillError("--changes and --snapshot exclude each other", help="choose one")
    if coalesce and (changes or snapshot is not None):
        raise TidemillError(
            "--coalesce merges intervals, and there are none here",
            help="leave out --changes and --snapshot, or --coalesce",
        )


def _answer(query: Query, changes: bool, snapshot: str | None, coalesce: bool) -> pa.Table:
    if changes:
        return query.changes()
    if snapshot is not None:
        return query.snapshot(instant(snapshot))
    return query.collect(coalesce=coalesce)


def instant(text: str) -> int | datetime:
    """An instant as users write it: a tick or a date with its time.

    >>> instant("42"), instant("2024-03-01 12:00")
    (42, datetime.datetime(2024, 3, 1, 12, 0))
    """
    try:
        return int(text) if text.strip().isdecimal() else datetime.fromisoformat(text)
    except ValueError as error:
        help = "write a whole number of ticks, or a time as in '2024-03-01 12:00'"
        raise TidemillError(f"`{text}` is no instant", help=help) from error


def _print(table: pa.Table, format: Format, limit: int | None) -> None:
    most = limit if limit is not None else _SCREENFUL if format is Format.TABLE else 0
    part = table.slice(0, most) if most else table
    if format is Format.CSV:
        typer.echo(csv_text(part), nl=False)
    elif format is Format.JSON:
        typer.echo(json_text(part), nl=False)
    else:
        _print_table(part, table.num_rows - part.num_rows)


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


class _Watched:
    """The progress of a query, read anew whenever the line is drawn."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._spinner = Spinner("dots")

    def __rich__(self) -> Spinner:
        self._spinner.update(text=_line(self._query.progress))
        return self._spinner


def _line(progress: Progress) -> str:
    return f"{progress.rows_in:,} rows in, {progress.rows_out:,} out, tick {progress.ticks}"


def _summarize(notes: Console, progress: Progress, seconds: float) -> None:
    ticks = f"{progress.ticks} tick{'s' if progress.ticks != 1 else ''}"
    line = f"{progress.rows_in:,} rows in, {progress.rows_out:,} out, {ticks}, {seconds:.2f} s"
    notes.print(line, style="dim", highlight=False)
    for name, source in progress.sources.items():
        if source.late_rows:
            text = f" `{name}`: {source.late_rows:,} rows came after the slack and were left out"
            notes.print(Text.assemble(("late:", "bold yellow"), text))
