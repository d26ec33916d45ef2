"""The tour without Spark: an auction house, five questions, and one mistake."""

from __future__ import annotations

import time
from datetime import timedelta

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from tidemill import Engine, Query, TidemillError
from tidemill.cli.auction import SLACK_SECONDS, Auction, auction
from tidemill.cli.show import heading, show_answer, show_links, show_mistake, show_sql, some_rows
from tidemill.cli.stations import HOT, STATIONS, WRONG, Station

_LINKS = (
    ("tidemill demo", "eight questions, on Spark"),
    ("tidemill run examples/csv/top_bids.sql", "a script over CSV files"),
    ("docs/getting-started.md", "from Python, step by step"),
    ("docs/language.md", "the whole language"),
)


def tour(console: Console, pause: bool) -> None:
    """Visit all stations, one after the other."""
    began = time.perf_counter()
    house = auction()
    engine = _engine(house)
    console.print(_welcome(house))
    for number, station in enumerate(STATIONS, 1):
        _visit(console, engine, station, number)
        if pause:
            console.input("[dim]Press Enter to continue[/] ")
    _readings(console, engine)
    try:
        engine.sql(WRONG)
    except TidemillError as error:
        show_mistake(console, error)
    seconds = time.perf_counter() - began
    show_links(console, _LINKS, f"The tour took {seconds:.1f} s, in this process, without Java.")


def first_pictures(console: Console) -> None:
    """The first stations, for those who wait for Spark."""
    house = auction()
    engine = _engine(house)
    heading(console, "While Spark starts: two answers from this process")
    bids = sum(tick.num_rows for tick in house.bids)
    console.print(f"They are about one afternoon at an auction house, with {bids:,} bids.")
    for number, station in enumerate(STATIONS[:2], 1):
        _visit(console, engine, station, number)


def _engine(house: Auction) -> Engine:
    engine = Engine(runtime="inprocess")
    engine.stream("bid", house.bids, time="ts", slack=timedelta(seconds=SLACK_SECONDS))
    engine.stream("opened", house.opened, time="ts")
    engine.stream("closed", house.closed, time="ts")
    return engine


def _query(engine: Engine, sql: str) -> Query:
    query = engine.sql(sql)
    assert isinstance(query, Query)
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


def _visit(console: Console, engine: Engine, station: Station, number: int) -> None:
    heading(console, f"{number}  {station.title}")
    console.print(station.words)
    show_sql(console, station.prepare + station.sql)
    if station.prepare:
        engine.sql(station.prepare)
    began = time.perf_counter()
    query = _query(engine, station.sql)
    answer = query.collect(coalesce=True)
    seconds = time.perf_counter() - began
    rows_in = query.progress.rows_in
    note = f"{answer.num_rows:,} rows in the answer, from {rows_in:,} rows, in {seconds:.2f} s"
    show_answer(console, answer, station.view, note)


def _readings(console: Console, engine: Engine) -> None:
    heading(console, "The same answer, read in other ways")
    query = _query(engine, HOT.sql)
    at = HOT.view.start + timedelta(minutes=90)
    console.print(f"query.snapshot({at:%H:%M}): what holds at an instant")
    console.print(Padding(some_rows(query.snapshot(at)), (1, 2)))
    console.print("query.changes(): a log of rows that come (+) and go (-)")
    console.print(Padding(some_rows(query.changes()), (1, 2, 0, 2)))
