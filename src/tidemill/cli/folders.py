"""`tidemill verify`, `repair`, `backup` and `restore`: durable folders, of runs and of servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="That of --checkpoint, or of serve --dir.")
]


def verify(folder: Folder) -> None:
    """Check every file of a folder: a line for each that is damaged, and the exit code 1."""
    from tidemill.engine.folders import verify

    with reported(Console(stderr=True)):
        found = verify(folder)
    for damage in found.damages:
        typer.echo(str(damage))
    if found.damages:
        raise typer.Exit(1)
    typer.echo(f"{folder} is whole: {found.files} files")


def repair(folder: Folder) -> None:
    """Go back to the last point at which a folder is whole, and say what is lost by that.

    No run or server may use it meanwhile.
    """
    from tidemill.engine.folders import repair

    with reported(Console(stderr=True)):
        told = repair(folder)
    typer.echo("\n".join(told) if told else f"{folder} is whole: nothing was done")


def backup(
    folder: Folder,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A folder that is made.")],
) -> None:
    """Copy a folder as it is at one moment, also while a run or a server uses it."""
    from tidemill.engine.folders import backup

    with reported(Console(stderr=True)):
        typer.echo(f"{backup(folder, target)} files are in {target}")


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="What backup has made.")],
    folder: Folder,
) -> None:
    """Put a copy back, in a folder that does not exist."""
    from tidemill.engine.folders import restore

    with reported(Console(stderr=True)):
        typer.echo(f"{restore(source, folder)} files are in {folder}")
