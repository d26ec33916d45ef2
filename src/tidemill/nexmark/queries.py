"""The queries of the benchmark, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tidemill import Engine, Query, TidemillError
from tidemill.nexmark.generate import Size
from tidemill.nexmark.windows import scale_windows

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

    def on(self, engine: Engine, folder: str | Path, window: int = 1) -> Query:
        """The query in an engine, over the streams in a folder, with windows so much larger."""
        text = self.script(folder)
        query = engine.sql(scale_windows(text, window) if window > 1 else text)
        if query is None:
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


def choose(names: str) -> list[BenchmarkQuery]:
    """The queries of a list such as `q1,counts`; an empty one means all."""
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(QUERIES)
    for name in wanted:
        if name not in QUERIES:
            raise TidemillError(f"no query `{name}`", help=f"queries: {', '.join(QUERIES)}")
    return [QUERIES[name] for name in wanted]
