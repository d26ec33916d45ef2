"""The command `tidemill` and its subcommands, which are loaded when they are called."""

from __future__ import annotations

import io
import logging
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Context
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from tidemill import __version__

COMMANDS = {
    "demo": "Ask an auction house eight questions at once, on Spark, and see some answers.",
    "run": "Run a script: start its INSERT INTO queries, and print the answer to a SELECT at its "
    "end.",
    "explain": "Draw the plan of the last query of a script, without running it.",
    "serve": "Serve an engine: an HTTP API under /api, and a web page.",
    "shell": "Type SQL at a prompt, for an engine inside or for a server.",
    "top": "Show what the queries of a server do: rows, late rows, state and lag, until Ctrl-C.",
    "inspect": "Show what a checkpoint has: ticks, queries with their plans, and the state of "
    "operators.",
    "verify": "Check every file of a folder; print each damaged file, and exit with 1 if there is "
    "one.",
    "repair": "Go back to the last point at which a folder is intact, and say what is lost.",
    "backup": "Copy a folder as of one moment, even while a run or a server uses it.",
    "restore": "Restore a copy to a new folder.",
    "nexmark": "The auction benchmark: its data.",
}
"""What each command does, in the words of its docstring: to load them all takes seconds."""

_EXTRAS = {
    **dict.fromkeys(("fastapi", "uvicorn", "websockets", "httpx"), "server"),
    **dict.fromkeys(("prompt_toolkit", "starlette", "anyio"), "server"),
    **dict.fromkeys(("pyspark", "pandas", "py4j"), "spark"),
    "psycopg": "postgres",
    **dict.fromkeys(("confluent_kafka", "fastavro"), "kafka"),
}


class CommandGroup(TyperGroup):
    """A group that knows the names of its commands, and loads the one that is called."""

    def list_commands(self, ctx: Context) -> list[str]:  # type: ignore[override]
        """All names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Any:  # type: ignore[override]
        """A command as the help shows it."""
        text = COMMANDS.get(cmd_name)
        return None if text is None else TyperCommand(cmd_name, help=text)

    def resolve_command(self, ctx: Context, args: list[str]) -> Any:  # type: ignore[override]
        """The command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if command is None or name is None else loaded(name), rest

    def invoke(self, ctx: Context) -> Any:  # type: ignore[override]
        """Run the command that is called, if what it needs is installed."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            extra = _EXTRAS.get(str(error.name).partition(".")[0])
            if extra is None:
                raise
            message = f"this needs a package that is not installed: {error.name}"
            typer.echo(f"error: {message}\nhelp: pip install 'tidemill[{extra}]'", err=True)
            raise typer.Exit(1) from None


def loaded(name: str) -> Any:
    """A command with all its options."""
    found: Any = getattr(import_module(_HOMES.get(name, f"tidemill.cli.{name}")), name)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, **_STYLE)
    alone.command(name)(found)
    return get_command(alone)


_STYLE: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}
_HOMES = dict.fromkeys(("backup", "repair", "restore", "verify"), "tidemill.cli.folders")

app = typer.Typer(
    name="tidemill",
    cls=CommandGroup,
    help="Continuous SQL queries over data streams, with exact answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    **_STYLE,
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


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot draw a character shows a question mark instead of failing.
            stream.reconfigure(errors="replace")
    # What fails is reported once, in our words.
    logging.disable()
    app()
