"""`tidemill verify`, `repair`, `backup` and `restore`: durable folders, of runs and of servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tidemill.cli.report import reported

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder of --checkpoint, or of serve --dir.")
]


def verify(folder: Folder) -> None:
    """Check every file of a folder; print each damaged file, and exit with 1 if there is one."""
    from tidemill.engine.folders import verify

    with reported(Console(stderr=True)):
        found = verify(folder)
    for damage in found.damages:
        typer.echo(str(damage))
    if found.damages:
        raise typer.Exit(1)
    typer.echo(f"{folder} is intact: {found.files} files")


def repair(folder: Folder) -> None:
    """Go back to the last point at which a folder is intact, and say what is lost.

    No run or server may use the folder meanwhile.
    """
    from tidemill.engine.folders import repair

    with reported(Console(stderr=True)):
        told = repair(folder)
    typer.echo("\n".join(told) if told else f"{folder} is intact: nothing was done")


def backup(
    folder: Folder,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new folder.")],
) -> None:
    """Copy a folder as of one moment, even while a run or a server uses it."""
    from tidemill.engine.folders import backup

    with reported(Console(stderr=True)):
        typer.echo(f"{backup(folder, target)} files are in {target}")


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="The folder that backup made.")],
    folder: Folder,
) -> None:
    """Restore a copy to a new folder."""
    from tidemill.engine.folders import restore

    with reported(Console(stderr=True)):
        typer.echo(f"{restore(source, folder)} files are in {folder}")
