"""The command `tidemill` and its subcommands."""

from __future__ import annotations

import io
import logging
import sys
from typing import Annotated

import typer

from tidemill import __version__
from tidemill.cli.demo import demo
from tidemill.cli.explain import explain
from tidemill.cli.folders import backup, repair, restore, verify
from tidemill.cli.inspect import inspect
from tidemill.cli.nexmark import nexmark
from tidemill.cli.run import run
from tidemill.cli.serve import serve
from tidemill.cli.shell import shell

app = typer.Typer(
    name="tidemill",
    help="Continuous SQL queries over data streams, with exact answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tidemill {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Continuous SQL queries over data streams, with exact answers."""


for command in (demo, run, explain, serve, shell, inspect, verify, repair, backup, restore):
    app.command()(command)
app.add_typer(nexmark, name="nexmark")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot draw a character shows a question mark instead of failing.
            stream.reconfigure(errors="replace")
    # What fails is reported once, in our words.
    logging.disable()
    app()
