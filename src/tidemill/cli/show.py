"""Answers on the terminal, as the demo shows them: a table and a picture of validity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console, Group
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from tidemill.cli.timeline import Axis, lanes_of, picture
from tidemill.errors import TidemillError
from tidemill.terminal.diagnostics import diagnostic
from tidemill.terminal.tables import rich_table

_ROWS = 5
_WIDEST = 110


@dataclass(frozen=True)
class ShownAnswer:
    """The part of an answer to draw. `label` and `texts` are the columns that the picture shows.

    `name` stands before a picture that has no label.
    """

    start: datetime
    minutes: int
    label: str | None
    texts: tuple[str, ...] = ()
    lanes: int = 8
    name: str = ""


def wide_console() -> Console:
    """Standard output, but not so wide that pictures fall apart."""
    console = Console(highlight=False)
    return Console(highlight=False, width=_WIDEST) if console.width > _WIDEST else console


@contextmanager
def doing(console: Console, what: str) -> Iterator[None]:
    """Say what is being done: until it is done on a terminal, in a line elsewhere."""
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        console.print(f"{what} …")
        yield


def heading(console: Console, title: str) -> None:
    """A line with a title."""
    console.print()
    console.print(Rule(Text(title, style="bold"), align="left", style="dim"))


def show_sql(console: Console, sql: str) -> None:
    """A query in colour."""
    syntax = Syntax(sql.strip("\n"), "sql", theme="ansi_dark", background_color="default")
    console.print(Padding(syntax, (1, 2)))


def show_answer(console: Console, answer: pa.Table, view: ShownAnswer, note: str) -> None:
    """Some rows of an answer, a note below them, and their picture."""
    seen = _around(answer, view)
    console.print(Padding(some_rows(seen), (0, 2)))
    console.print(Padding(Text(note, style="dim"), (0, 2)))
    if seen.num_rows:
        console.print(Padding(_picture(seen, view, console.width - 4), (1, 2, 0, 2)))


def some_rows(answer: pa.Table) -> Group:
    """The first rows of an answer."""
    shown = rich_table(_times_of_day(answer.slice(0, _ROWS)))
    more = [Text("…", style="dim")] if answer.num_rows > _ROWS else []
    return Group(shown, *more)


def show_mistake(console: Console, error: TidemillError) -> None:
    """What a wrong query is answered with."""
    heading(console, "And if the query is wrong?")
    console.print("It is refused before it runs, with its position and a remedy.")
    console.print(Padding(diagnostic(error), (1, 2, 0, 2)))


def show_links(console: Console, links: tuple[tuple[str, str], ...], done: str) -> None:
    """Where to go next: commands and pages, each with a word on it."""
    heading(console, "Where to go next")
    width = max(len(command) for command, _ in links)
    for command, words in links:
        console.print(Text.assemble((command.ljust(width), "cyan"), "   ", (words, "dim")))
    console.print(Text(f"\n{done}", style="dim"))


def _around(answer: pa.Table, view: ShownAnswer) -> pa.Table:
    """The rows that hold in the span of the picture."""
    start = pa.scalar(view.start, pa.timestamp("us"))
    end = pa.scalar(view.start + timedelta(minutes=view.minutes), pa.timestamp("us"))
    still = pc.fill_null(pc.greater(answer["valid_to"], start), True)
    return answer.filter(pc.and_(pc.less(answer["valid_from"], end), still))


def _times_of_day(table: pa.Table) -> pa.Table:
    """Instants to the second; where all are of one day, without it."""
    found = [(i, f.name) for i, f in enumerate(table.schema) if pa.types.is_timestamp(f.type)]
    columns = {i: table.column(i).cast(pa.timestamp("s"), safe=False) for i, _ in found}
    days = {time.date() for column in columns.values() for time in column.to_pylist() if time}
    form = "%H:%M:%S" if len(days) < 2 else "%m-%d %H:%M:%S"
    for index, name in found:
        table = table.set_column(index, name, pc.strftime(columns[index], form))
    return table


def _picture(rows: pa.Table, view: ShownAnswer, width: int) -> Text:
    lanes = lanes_of(rows, view.label, view.texts, view.name)[: view.lanes]
    margin = max(len(lane.label) for lane in lanes) + 2
    start = pa.scalar(view.start, pa.timestamp("us")).value
    axis = Axis(start, start + view.minutes * 60_000_000, width - margin - 6)
    return picture(lanes, axis)
