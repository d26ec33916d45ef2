"""Scripts: from files, standard input and the command line to a query."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidemill import Engine, Query, TidemillError

File = Annotated[
    str | None,
    typer.Argument(metavar="FILE.sql", help="The script; - reads standard input."),
]
Command = Annotated[
    str | None,
    typer.Option("--command", "-c", metavar="SQL", help="Statements to run after the file."),
]


def query_of(file: str | None, command: str | None) -> Query:
    """Run the statements of a file and of the command line; the query that stands last."""
    if file is None and command is None:
        raise TidemillError("there is nothing to run", help="name a file, or write -c 'SELECT ...'")
    engine = Engine(runtime="inprocess")
    query = None
    for text in (None if file is None else read(file), command):
        query = query if text is None else engine.sql(text)
    if query is None:
        raise TidemillError(
            f"{_name(file, command)} does not end with a query",
            help="write a SELECT as the last statement",
        )
    return query


def _name(file: str | None, command: str | None) -> str:
    return "the command" if command is not None else "the script" if file == "-" else str(file)


def read(file: str) -> str:
    """The text of a script."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        help = _remedy(Path(file))
        raise TidemillError(f"cannot read {file}: {reason}", help=help) from error
    except UnicodeDecodeError as error:
        raise TidemillError(f"{file} is not a text in UTF-8", help="convert the file") from error


def _remedy(path: Path) -> str | None:
    if path.is_dir():
        path, found = path / "*.sql", sorted(path.glob("*.sql"))
    else:
        found = sorted(path.parent.glob("*.sql")) if path.parent.is_dir() else []
    return f"scripts there: {', '.join(file.name for file in found[:8])}" if found else None
