"""`tidemill demo`: a tour in the terminal."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from tidemill import Engine, Query, TidemillError
from tidemill.cli.auction import SLACK_SECONDS, Auction, auction
from tidemill.cli.report import diagnostic
from tidemill.cli.tables import rich_table
from tidemill.cli.timeline import Axis, lanes_of, picture
from tidemill.cli.tour import HOT, STATIONS, WRONG, Station

_ROWS = 5
_WIDEST = 110
_LINKS = (
    ("tidemill run examples/auction/hot_item.sql", "a script over CSV files"),
    ("tidemill explain examples/auction/hot_item.sql", "its plan"),
    ("docs/getting-started.md", "from Python, step by step"),
    ("docs/language.md", "everything the language knows"),
)


def demo(
    pause: Annotated[bool, typer.Option("--pause", help="Wait for Enter after each step.")] = False,
) -> None:
    """Take a tour: an auction house, five questions, and one mistake."""
    console = Console(highlight=False)
    if console.width > _WIDEST:
        console = Console(highlight=False, width=_WIDEST)
    began = time.perf_counter()
    house = auction()
    engine = _engine(house)
    console.print(_welcome(house))
    for number, station in enumerate(STATIONS, 1):
        _visit(console, engine, station, number)
        if pause:
            console.input("[dim]Enter goes on[/] ")
    _readings(console, engine)
    _mistake(console, engine)
    console.print(_farewell(time.perf_counter() - began))


def _engine(house: Auction) -> Engine:
    engine = Engine(runtime="inprocess")
    engine.stream("bid", house.bids, time="ts", slack=timedelta(seconds=SLACK_SECONDS))
    engine.stream("opened", house.opened, time="ts")
    engine.stream("closed", house.closed, time="ts")
    return engine


def _query(engine: Engine, sql: str) -> Query:
    query = engine.sql(sql)
    assert query is not None
    return query


def _welcome(house: Auction) -> Panel:
    bids = sum(tick.num_rows for tick in house.bids)
    text = Text.assemble(
        ("Tidemill", "bold"),
        " answers continuous SQL queries over data streams, exactly.\n\n",
        f"For this tour: one afternoon at an auction house, {bids:,} bids on "
        f"{house.opened.num_rows} items.\n"
        f"Bids arrive up to {SLACK_SECONDS} seconds out of order. There are three streams:\n\n",
        ("  opened", "cyan"), "  item, seller, price\n",
        ("  bid", "cyan"), "     item, price, bidder\n",
        ("  closed", "cyan"), "  item, price",
    )  # fmt: skip
    return Panel(text, padding=(1, 2), border_style="cyan")


def _heading(console: Console, title: str) -> None:
    console.print()
    console.print(Rule(Text(title, style="bold"), align="left", style="dim"))


def _sql(sql: str) -> Padding:
    syntax = Syntax(sql.strip("\n"), "sql", theme="ansi_dark", background_color="default")
    return Padding(syntax, (1, 2))


def _visit(console: Console, engine: Engine, station: Station, number: int) -> None:
    _heading(console, f"{number}  {station.title}")
    console.print(station.words)
    console.print(_sql(station.prepare + station.sql))
    if station.prepare:
        engine.sql(station.prepare)
    began = time.perf_counter()
    query = _query(engine, station.sql)
    answer = query.collect(coalesce=True)
    seconds = time.perf_counter() - began
    console.print(Padding(_table(_around(answer, station), _ROWS), (0, 2)))
    rows_in = query.progress.rows_in
    note = f"{answer.num_rows:,} rows in the answer, from {rows_in:,} rows, in {seconds:.2f} s"
    console.print(Padding(Text(note, style="dim"), (0, 2)))
    console.print(Padding(_picture(answer, station, console.width - 4), (1, 2, 0, 2)))


def _around(answer: pa.Table, station: Station) -> pa.Table:
    """The rows that hold in the span of the picture."""
    start = pa.scalar(station.start, pa.timestamp("us"))
    end = pa.scalar(station.start + timedelta(minutes=station.minutes), pa.timestamp("us"))
    still = pc.fill_null(pc.greater(answer["valid_to"], start), True)
    return answer.filter(pc.and_(pc.less(answer["valid_from"], end), still))


def _table(answer: pa.Table, rows: int) -> Group:
    shown = rich_table(_to_seconds(answer.slice(0, rows)))
    more = [Text("…", style="dim")] if answer.num_rows > rows else []
    return Group(shown, *more)


def _to_seconds(table: pa.Table) -> pa.Table:
    """All of the demo happens on one day: the time of day is enough."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            texts = pc.strftime(table.column(index).cast(pa.timestamp("s"), safe=False), "%H:%M:%S")
            table = table.set_column(index, field.name, texts)
    return table


def _picture(answer: pa.Table, station: Station, width: int) -> Text:
    rows = _around(answer, station)
    lanes = lanes_of(rows, station.label, station.texts, station.name)[: station.lanes]
    margin = max(len(lane.label) for lane in lanes) + 2
    start = pa.scalar(station.start, pa.timestamp("us")).value
    axis = Axis(start, start + station.minutes * 60_000_000, width - margin - 6)
    return picture(lanes, axis)


def _readings(console: Console, engine: Engine) -> None:
    _heading(console, "The same answer, read in other ways")
    query = _query(engine, HOT.sql)
    at = HOT.start + timedelta(minutes=90)
    console.print(f"query.snapshot({at:%H:%M}): what holds at an instant")
    console.print(Padding(_table(query.snapshot(at), _ROWS), (1, 2)))
    console.print("query.changes(): a log of rows that come (+) and go (-)")
    console.print(Padding(_table(query.changes(), _ROWS), (1, 2, 0, 2)))


def _mistake(console: Console, engine: Engine) -> None:
    _heading(console, "And if the query is wrong?")
    console.print("It is refused before it runs, with its place and a remedy.")
    try:
        engine.sql(WRONG.strip())
    except TidemillError as error:
        console.print(Padding(diagnostic(error), (1, 2, 0, 2)))


def _farewell(seconds: float) -> Group:
    width = max(len(command) for command, _ in _LINKS)
    lines = [Text.assemble((c.ljust(width), "cyan"), "   ", (w, "dim")) for c, w in _LINKS]
    title = Rule(Text("Where to go next", style="bold"), align="left", style="dim")
    done = Text(f"The tour took {seconds:.1f} s, in this process, without a JVM.", style="dim")
    return Group("", title, *lines, "", done)
