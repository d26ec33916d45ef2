"""`tidemill explain`: the plan of a query."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from tidemill import Engine, Query
from tidemill.cli.report import reported
from tidemill.cli.script import Command, File, load


class Level(StrEnum):
    """Which plan."""

    LOGICAL = "logical"
    OPTIMIZED = "optimized"
    VERBOSE = "verbose"
    PHYSICAL = "physical"
    FRAGMENTS = "fragments"
    COST = "cost"


_TEXTS = (Level.VERBOSE, Level.FRAGMENTS, Level.COST)
"""Levels that show several plans, or a table."""


def explain(
    file: File = None,
    command: Command = None,
    level: Annotated[
        Level,
        typer.Option(
            "--level",
            "-l",
            help="What it means, what the rules make of it, how it runs, how Spark runs it, "
            "what it needs.",
        ),
    ] = Level.LOGICAL,
    plain: Annotated[bool, typer.Option("--plain", help="Numbered lines of text.")] = False,
) -> None:
    """Draw the plan of the last query of a script, without running it.

    With -c the query comes from the command line; a file before it can declare the streams.
    """
    with reported(Console(stderr=True)):
        query = load(Engine(), file, command).last  # planning starts no Spark
        lines = plan_lines(query, level)
        if plain or level in _TEXTS:
            typer.echo("\n".join([level.value, *lines]))
        else:
            console = Console(highlight=False)
            console.print(Text(level.value, style="dim"))
            console.print(plan_tree(lines))


def plan_lines(query: Query, level: Level) -> list[str]:
    """The lines of a plan, without its title and the warnings behind it."""
    lines = query.explain(level.value).split("\n")[1:]
    shown = sum(str(warning).count("\n") + 1 for warning in query.warnings)
    return lines[: len(lines) - shown]


def plan_tree(lines: list[str]) -> Tree:
    """The lines of a plan as a tree: two more spaces in front are one level down.

    >>> len(plan_tree(["01 Join", "02   Scan a", "03   Scan b"]).children)
    2
    """
    open_nodes: list[Tree] = []
    for line in lines:
        text = line.partition(" ")[2]
        depth = (len(text) - len(text.lstrip())) // 2
        label = _label(text.lstrip())
        node = Tree(label) if depth == 0 else open_nodes[depth - 1].add(label)
        open_nodes[depth:] = [node]
    return open_nodes[0]


def _label(text: str) -> Text:
    name, space, details = text.partition(" ")
    return Text.assemble((name, "bold cyan"), space, details)
