"""Scripts: from files, standard input and the command line to queries."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tidemill import Engine, Query, Report, TidemillError
from tidemill.sql import InsertInto, Statement, parse

File = Annotated[
    str | None,
    typer.Argument(metavar="FILE.sql", help="The script; - reads standard input."),
]
Command = Annotated[
    str | None,
    typer.Option("--command", "-c", metavar="SQL", help="Statements to run after the file."),
]

Lasting = Annotated[
    str,
    typer.Option(
        "--durability",
        metavar="machine|process",
        help="What the folder survives: a power cut, or only a kill (faster).",
    ),
]
Latency = Annotated[
    str,
    typer.Option(metavar="TIME", help="How long a tick may take when much is waiting: '500 ms'."),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="The number of partitions. Default: that of the folder, if it was used before; "
        "otherwise one per core on Spark, and one in this process.",
        show_default=False,
    ),
]


class Runtime(StrEnum):
    """Where queries run."""

    SPARK = "spark"
    INPROCESS = "inprocess"


@dataclass
class ScriptFile:
    """What a script asks for: queries that have sinks, and the answer to its last SELECT.

    `reports` are the answers to SHOW, DESCRIBE and EXPLAIN.
    """

    inserts: list[Query] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    answer: Query | None = None

    @property
    def last(self) -> Query:
        """The query that stands last."""
        return self.answer or self.inserts[-1]

    def take(self, statement: Statement, answer: Query | Report | None) -> None:
        """Note what a statement was answered with."""
        self.answer = None
        if isinstance(answer, Report):
            self.reports.append(answer)
        elif answer is not None and isinstance(statement, InsertInto):
            self.inserts.append(answer)
        else:
            self.answer = answer


def load(engine: Engine, file: str | None, command: str | None) -> ScriptFile:
    """Plan the statements of a file and of the command line."""
    if file is None and command is None:
        raise TidemillError("there is nothing to run", help="name a file, or write -c 'SELECT ...'")
    script = ScriptFile()
    for text in (None if file is None else read(file), command):
        if text is None:
            continue
        script.answer = None
        for statement, query in zip(parse(text), engine.script(text), strict=True):
            script.take(statement, query)
    if script.answer is None and not script.inserts and not script.reports:
        raise TidemillError(
            f"{_name(file, command)} does not end with a query",
            help="write SELECT or INSERT INTO as the last statement",
        )
    return script


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
        raise TidemillError(f"{file} is not UTF-8 text", help="convert the file") from error


def _remedy(path: Path) -> str | None:
    if path.is_dir():
        path, found = path / "*.sql", sorted(path.glob("*.sql"))
    else:
        found = sorted(path.parent.glob("*.sql")) if path.parent.is_dir() else []
    return f"scripts there: {', '.join(file.name for file in found[:8])}" if found else None
