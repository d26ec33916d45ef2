"""Where the queries of a command run: on Spark, which is started quietly, or in this process."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from tidemill import Engine
from tidemill.cli.script import Runtime
from tidemill.runtime.java import has_java

Where = Annotated[
    Runtime | None,
    typer.Option(
        "--runtime",
        help="Spark on this machine, or this process (no Java). Default: Spark, if there is Java.",
        show_default=False,
    ),
]


def chosen(runtime: Runtime | None, notes: Console) -> Runtime:
    """The runtime that was asked for, or the best one that there is."""
    if runtime is None and not has_java():
        notes.print("there is no Java, so there is no Spark", style="dim", highlight=False)
        return Runtime.INPROCESS
    return runtime or Runtime.SPARK


def tell_where(engine: Engine, notes: Console) -> None:
    """Say where queries run; Spark takes its time to be there."""
    engine.prepare(quietly=True)
    word = "starting Spark"
    if notes.is_terminal:
        notes.print(word, end="\r", style="dim")
    title = engine.title
    notes.print(f"{title:<{len(word)}}", style="dim", highlight=False)
