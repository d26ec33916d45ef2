"""`tidemill shell`: statements and commands at a prompt."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported
from tidemill.cli.script import Command, Runtime
from tidemill.cli.spark import start_spark
from tidemill.shell import Backend, EmbeddedBackend, Printer, Repl, Session
from tidemill.terminal.tables import Format


def shell(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE.sql", help="A script to run first.")
    ] = None,
    command: Command = None,
    runtime: Annotated[
        Runtime, typer.Option(help="Spark on this machine, or this process (no Java).")
    ] = Runtime.INPROCESS,
    every: Annotated[
        str,
        typer.Option(metavar="TIME", help="The time between ticks; never: \\tick makes them."),
    ] = "200 milliseconds",
    format: Annotated[
        Format, typer.Option("--format", "-f", help="How to print results.")
    ] = Format.TABLE,
) -> None:
    """Ask questions at a prompt, with an engine inside.

    \\? lists the commands. Statements can also come from standard input, a file, or -c: they are
    run up to the first mistake, and the exit code is 1 if there is one. Results go to standard
    output, everything else to standard error.
    """
    notes = Console(stderr=True)
    with reported(notes):
        backend = _embedded(runtime, every, notes)
        try:
            done = _converse(backend, Printer(sys.stdout, sys.stderr, format), file, command)
        finally:
            backend.close()
    if not done:
        raise typer.Exit(1)


def _embedded(runtime: Runtime, every: str, notes: Console) -> Backend:
    backend = EmbeddedBackend(runtime.value, None if every == "never" else every)
    if runtime is Runtime.SPARK:
        start_spark(backend.engine, notes)
    return backend


def _converse(backend: Backend, printer: Printer, file: str | None, command: str | None) -> bool:
    """Run the file, then what was given, or what people type; whether nothing failed."""
    at_terminal = command is None and sys.stdin.isatty()
    session = Session(backend, printer)
    done = file is None or session.run_file(file)
    if at_terminal and not session.ended:
        Repl(backend, printer).run()
        return True
    return done and session.run(sys.stdin.read() if command is None else command)
