"""`tidemill run`: what a script asks for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.console import Console
from rich.text import Text

from tidemill import Engine, Progress, Query, TidemillError
from tidemill.cli.board import BoardEntry, watch
from tidemill.cli.printing import SCREENFUL, ResultPrinter, print_answer, print_report
from tidemill.cli.report import reported
from tidemill.cli.script import Command, File, Lasting, Latency, Partitions, load
from tidemill.cli.spark import Where, chosen, tell_where
from tidemill.terminal.tables import Format


def run(
    file: File = None,
    command: Command = None,
    format: Annotated[
        Format, typer.Option("--format", "-f", help="How to print the result.")
    ] = Format.TABLE,
    changes: Annotated[
        bool, typer.Option("--changes", help="Print rows that come (+) and go (-), and when.")
    ] = False,
    snapshot: Annotated[
        str | None,
        typer.Option(metavar="AT", help="Print the rows at an instant: 42 or '2024-03-01 12:00'."),
    ] = None,
    coalesce: Annotated[
        bool, typer.Option("--coalesce", help="Merge equal rows whose intervals touch.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=0, help=f"Rows to print; 0 prints all. A table stops at {SCREENFUL}."),
    ] = None,
    runtime: Where = None,
    once: Annotated[
        bool | None,
        typer.Option(
            "--once/--follow",
            help="Read what is there and end, or wait for more until Ctrl-C. By default, a "
            "script that ends with SELECT is run once, others are followed.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A folder from which queries resume after a restart.")
    ] = None,
    durability: Lasting = "machine",
    every: Annotated[
        str | None, typer.Option(metavar="TIME", help="The time between ticks: '10 seconds'.")
    ] = None,
    latency: Latency = "1 second",
    partitions: Partitions = None,
    late: Annotated[Path | None, typer.Option(help="A folder for late rows, as Parquet.")] = None,
) -> None:
    """Run a script: start its INSERT INTO queries, and print the answer to a SELECT at its end.

    Streams are declared in the script: CREATE STREAM ... SOURCE csv(path => 'bids/'). A relative
    path starts at the directory in which you call tidemill, not at the script. INSERT INTO queries
    run together: every tick reads their sources once. Results go to standard output, everything
    else to standard error.
    """
    notes = Console(stderr=True)
    settings = {"checkpoint": checkpoint, "every": every, "late": late}
    given = {name: str(value) for name, value in settings.items() if value is not None}
    with (
        reported(notes),
        Engine(
            runtime=chosen(runtime, notes).value,
            partitions=partitions,
            durability=durability,
            latency=latency,
        ) as engine,
    ):
        script = load(engine, file, command)
        for report in script.reports:
            print_report(report, format)
        if script.answer is None and not script.inserts:
            return
        follow = script.answer is None if once is None else not once
        _check(changes, snapshot, coalesce, follow)
        started = [BoardEntry(_name(query), query) for query in script.inserts]
        if script.answer is not None and follow:
            form = "changes" if changes else "intervals"
            started.append(
                BoardEntry("SELECT", script.answer.into(ResultPrinter(format), form=form))
            )
        if given and not started:
            help = "write INSERT INTO, or add --follow"
            raise TidemillError(f"--{next(iter(given))} is for started queries", help=help)
        tell_where(engine, notes)
        if started:
            _run_together(engine, started, follow, given, notes)
        if script.answer is not None and not follow:
            began = time.perf_counter()
            print_answer(_answer(script.answer, changes, snapshot, coalesce), format, limit)
            _summarize(notes, script.answer.progress, time.perf_counter() - began)


def _check(changes: bool, snapshot: str | None, coalesce: bool, follow: bool) -> None:
    if changes and snapshot is not None:
        raise TidemillError("--changes and --snapshot exclude each other", help="choose one")
    if coalesce and (changes or snapshot is not None):
        raise TidemillError(
            "--coalesce merges intervals, but there are none here",
            help="leave out --changes and --snapshot, or --coalesce",
        )
    if follow and (coalesce or snapshot is not None):
        raise TidemillError(
            "--coalesce and --snapshot need a complete answer",
            help="end the script with SELECT, and do not --follow",
        )


def _name(query: Query) -> str:
    """What people know a started query by: where its results go."""
    sink = query.sink
    place = sink.options.get("path") or sink.options.get("table", "")
    return f"{sink.target} {place}".strip()


def _run_together(
    engine: Engine,
    entries: Sequence[BoardEntry],
    follow: bool,
    settings: Mapping[str, str],
    notes: Console,
) -> None:
    queries = [entry.query for entry in entries]
    running = engine.start(*queries, available_now=not follow, **settings)
    try:
        watch(notes, running, entries)
    except KeyboardInterrupt:
        running.stop()
        if not follow:
            raise
        notes.print("stopped", style="dim")


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
        help = "write an integer, or a time as in '2024-03-01 12:00'"
        raise TidemillError(f"`{text}` is not an instant", help=help) from error


def _summarize(notes: Console, progress: Progress, seconds: float) -> None:
    ticks = f"{progress.ticks} tick{'s' if progress.ticks != 1 else ''}"
    line = f"{progress.rows_in:,} rows in, {progress.rows_out:,} out, {ticks}, {seconds:.2f} s"
    notes.print(line, style="dim", highlight=False)
    for name, source in progress.sources.items():
        if source.late_rows:
            text = f" `{name}`: {source.late_rows:,} late rows were dropped"
            notes.print(Text.assemble(("late:", "bold yellow"), text))
