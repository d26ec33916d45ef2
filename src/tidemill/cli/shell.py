"""`tidemill shell`: statements and commands at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported
from tidemill.cli.script import Command, Runtime, read
from tidemill.terminal.tables import Format

if TYPE_CHECKING:
    from tidemill.shell import Backend, Printer


def shell(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE.sql", help="A script to run first.")
    ] = None,
    command: Command = None,
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="A server, as in http://127.0.0.1:8321.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="TIDEMILL_TOKEN", show_envvar=True, help="The token of the server."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token, so that others cannot see it.")
    ] = None,
    runtime: Annotated[
        Runtime, typer.Option(help="Spark on this machine, or this process (no Java).")
    ] = Runtime.INPROCESS,
    every: Annotated[
        str,
        typer.Option(metavar="TIME", help="The time between ticks; with never, \\tick runs one."),
    ] = "200 milliseconds",
    format: Annotated[
        Format, typer.Option("--format", "-f", help="How to print results.")
    ] = Format.TABLE,
) -> None:
    """Type SQL at a prompt, for an engine inside or for a server.

    \\? lists the commands. Statements can also come from standard input, a file, or -c: they
    run until the first error, and then the exit code is 1. Results go to standard
    output, everything else to standard error.
    """
    # Other commands start sooner without what only the shell needs.
    from tidemill.shell import Printer

    notes = Console(stderr=True)
    with reported(notes):
        if server is None:
            backend = _embedded(runtime, every)
        else:
            backend = _remote(server, token, token_file)
        try:
            done = _converse(backend, Printer(sys.stdout, sys.stderr, format), file, command)
        finally:
            backend.close()
    if not done:
        raise typer.Exit(1)


def _remote(url: str, token: str | None, token_file: Path | None) -> Backend:
    from tidemill.client import Client
    from tidemill.shell import ServerBackend

    if token is None and token_file is not None:
        token = read(str(token_file)).strip()
    return ServerBackend(Client(url, token))


def _embedded(runtime: Runtime, every: str) -> Backend:
    from tidemill.shell import EmbeddedBackend

    return EmbeddedBackend(runtime.value, None if every == "never" else every)


def _converse(backend: Backend, printer: Printer, file: str | None, command: str | None) -> bool:
    """Run the file, then what was given, or what people type; whether nothing failed."""
    from tidemill.shell import Repl, Session

    at_terminal = command is None and sys.stdin.isatty()
    if not at_terminal:
        printer.note(backend.title)  # people are greeted with it
    session = Session(backend, printer)
    done = file is None or session.run_file(file)
    if at_terminal and not session.ended:
        Repl(backend, printer).run()
        return True
    return done and session.run(read("-") if command is None else command)
