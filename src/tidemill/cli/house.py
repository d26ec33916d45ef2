"""The auction house of the demo: its streams, and the eight queries over them, on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tidemill import Engine, Query, TidemillError
from tidemill.cli.board import BoardEntry, watch
from tidemill.cli.show import ShownAnswer, doing, heading, show_answer, show_mistake, show_sql
from tidemill.cli.spark import tell_where
from tidemill.cli.stations import WRONG
from tidemill.cli.tour import first_pictures
from tidemill.nexmark.generate import BEGINNING, MICROSECONDS_PER_BID, generate
from tidemill.nexmark.queries import QUERIES, BenchmarkQuery
from tidemill.sql import CreateDerived, CreateStream, parse

_EIGHT = tuple(query for name, query in QUERIES.items() if name.startswith("q"))
_TICKS = 5
_WORDS = {
    "q4": "At each instant, the answer is that of the ordinary SQL query over the rows that hold "
    "then. It changes when a bid comes and when one leaves its window.",
    "q6": "Subqueries work over windows too: here >= ALL, a comparison with every group. Items "
    "with equally many bids share the lead.",
    "q7": "closing_price is a stream that another query makes. A partitioned window keeps the last "
    "10 rows of every seller: their mean holds until the next sale.",
}
_DRAWN: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "q4": (40, "item", ("price",)),
    "q6": (180, "item", ()),
    "q7": (360, "seller", ("average",)),
}
"""The answers that have a picture: its minutes, and the columns that it shows."""


@dataclass
class House:
    """An auction house in a folder, and a console that shows what goes on in it."""

    console: Console
    folder: Path
    bids: int
    pause: bool = False

    def visit(self) -> None:
        """Generate the streams, ask all questions at once, and show some of the answers."""
        days = timedelta(microseconds=self.bids * MICROSECONDS_PER_BID).days + 1
        self.console.print(_welcome(self.bids, days))
        with Engine() as engine:
            engine.prepare(quietly=True)
            first_pictures(self.console)
            tell_where(engine, self.console)
            with doing(self.console, f"generating {self.bids:,} bids"):
                generate(engine.spark, self.folder, self.bids, _TICKS)
            self._ask(engine)
            self._answers(engine)

    def _ask(self, engine: Engine) -> None:
        heading(self.console, "Eight queries, one pass over the streams")
        entries = [BoardEntry(f"{q.name} {q.title}", self._query(engine, q)) for q in _EIGHT]
        running = engine.start(*(entry.query for entry in entries), available_now=True)
        watch(self.console, running, entries)

    def _query(self, engine: Engine, query: BenchmarkQuery) -> Query:
        """A query with a folder for its results. What several scripts declare is declared once."""
        planned = None
        for statement in parse(query.script(self.folder)):
            named = isinstance(statement, CreateStream | CreateDerived) and statement.name
            if not (named and engine.catalog.find(named)):
                planned = engine.sql(statement.sql)
        assert isinstance(planned, Query)
        return planned.into("parquet", path=str(self._results(query)))

    def _results(self, query: BenchmarkQuery) -> Path:
        return self.folder / "results" / query.name

    def _answers(self, engine: Engine) -> None:
        answers = {q.name: _read(self._results(q)) for q in _EIGHT}
        heading(self.console, "The answers")
        self.console.print(Padding(_overview(answers), (0, 2)))
        for query in _EIGHT:
            if query.name in _DRAWN:
                self._wait()
                self._show(query, answers[query.name])
        self._wait()
        try:
            engine.sql(WRONG)
        except TidemillError as error:
            show_mistake(self.console, error)

    def _show(self, query: BenchmarkQuery, answer: pa.Table) -> None:
        heading(self.console, f"{query.name}  {_question(query)}")
        self.console.print(_WORDS[query.name])
        show_sql(self.console, parse(query.script(self.folder))[-1].sql)
        note = f"{answer.num_rows:,} rows in the answer, these from {self._middle:%d %B %H:%M} on"
        show_answer(self.console, answer, ShownAnswer(self._middle, *_DRAWN[query.name]), note)

    @property
    def _middle(self) -> datetime:
        """The hour in which the stream of bids is halfway."""
        microseconds = BEGINNING + self.bids * MICROSECONDS_PER_BID // 2
        hours = timedelta(microseconds=microseconds) // timedelta(hours=1)
        return datetime(1970, 1, 1) + timedelta(hours=hours)

    def _wait(self) -> None:
        if self.pause:
            self.console.input("[dim]Press Enter to continue[/] ")


def _welcome(bids: int, days: int) -> Panel:
    text = Text.assemble(
        ("Tidemill", "bold"),
        " answers continuous SQL queries over data streams, exactly, on Apache Spark.\n\n",
        f"For this demo: {days} days at an auction house, {bids:,} bids. There are four streams:"
        "\n\n",
        ("  person", "cyan"), "          id, name\n",
        ("  open_auction", "cyan"), "    item, seller, start_price\n",
        ("  bid", "cyan"), "             item, price, bidder\n",
        ("  closed_auction", "cyan"), "  item\n\n",
        "They are asked the eight questions of the NEXMark benchmark, all at once.",
    )  # fmt: skip
    return Panel(text, padding=(1, 2), border_style="cyan")


def _question(query: BenchmarkQuery) -> str:
    """What a query answers: the comment that its script begins with."""
    return query.script("").partition("\n")[0].removeprefix("-- ")


def _overview(answers: dict[str, pa.Table]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("query")
    table.add_column("what it answers")
    table.add_column("rows", justify="right")
    for query in _EIGHT:
        table.add_row(query.name, _question(query), f"{answers[query.name].num_rows:,}")
    return table


def _read(folder: Path) -> pa.Table:
    """The results of all ticks in the order of their time, which is in UTC."""
    rows = pl.read_parquet(folder / "*" / "*.parquet")
    times = pl.col("valid_from", "valid_to").cast(pl.Datetime("us"))
    return rows.with_columns(times).sort("valid_from", "valid_to").to_arrow()
