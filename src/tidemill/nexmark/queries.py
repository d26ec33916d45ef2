"""The queries of the benchmark, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tidemill import Engine, Query, TidemillError
from tidemill.nexmark.generate import Size

FOLDER = "'nexmark/"
"""How paths in the scripts begin."""


@dataclass(frozen=True)
class BenchmarkQuery:
    """A query: its short name, its file, and the streams it reads."""

    name: str
    file: str
    title: str
    streams: tuple[str, ...]

    def script(self, folder: str | Path) -> str:
        """The script over the streams in a folder."""
        text = files("tidemill.nexmark").joinpath("queries", self.file).read_text("utf-8")
        return text.replace(FOLDER, f"'{Path(folder).as_posix()}/")

    def on(self, engine: Engine, folder: str | Path) -> Query:
        """The query in an engine, over the streams in a folder."""
        query = engine.sql(self.script(folder))
        if not isinstance(query, Query):
            raise TidemillError(f"{self.file} does not end with a query")
        return query

    def events(self, size: Size) -> int:
        """How many rows the query reads."""
        rows = {"bid": size.bids, "person": size.persons}
        return sum(rows.get(stream, size.auctions) for stream in self.streams)


_AUCTION = ("open_auction", "closed_auction")

QUERIES = {
    query.name: query
    for query in (
        BenchmarkQuery("q1", "q1_currency.sql", "currency conversion", ("bid",)),
        BenchmarkQuery("q2", "q2_selection.sql", "selection", ("bid",)),
        BenchmarkQuery("q3", "q3_short_auctions.sql", "short auctions", _AUCTION),
        BenchmarkQuery("q4", "q4_highest_bid.sql", "highest bid", ("bid",)),
        BenchmarkQuery("q5", "q5_closing_price.sql", "closing price", ("bid", *_AUCTION)),
        BenchmarkQuery("q6", "q6_hot_item.sql", "hot item", ("bid",)),
        BenchmarkQuery("q7", "q7_seller_average.sql", "average by seller", ("bid", *_AUCTION)),
        BenchmarkQuery("q8", "q8_new_users.sql", "new users", ("person", "open_auction")),
        BenchmarkQuery("counts", "bid_counts.sql", "windowed aggregation", ("bid",)),
        BenchmarkQuery("sellers", "bid_sellers.sql", "windowed join", ("bid", "open_auction")),
    )
}
