"""`tidemill explain`: the plan of a query."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tidemill import Engine
from tidemill.cli.report import reported
from tidemill.cli.script import Command, File, load
from tidemill.explain import Level
from tidemill.terminal.plans import drawn


def explain(
    file: File = None,
    command: Command = None,
    level: Annotated[
        Level,
        typer.Option(
            "--level",
            "-l",
            help="The logical plan, what the rules made of it, its operators, its stages, "
            "or its cost.",
        ),
    ] = Level.LOGICAL,
    plain: Annotated[bool, typer.Option("--plain", help="Print numbered lines of text.")] = False,
) -> None:
    """Draw the plan of the last query of a script, without running it.

    With -c the query comes from the command line; a file before it can declare the streams.
    """
    with reported(Console(stderr=True)):
        query = load(Engine(), file, command).last  # planning starts no Spark
        found = query.explanation(level)
        if plain or not found.is_tree:
            typer.echo(f"{found.level}\n{found.body}")
        else:
            console = Console(highlight=False)
            console.print(Text(found.level, style="dim"))
            console.print(drawn(found))
