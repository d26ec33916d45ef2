"""The generated auction house: reproducible, in order, and at the rates of the text."""

from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from tidemill import TidemillError
from tidemill.cli import app
from tidemill.nexmark.generate import STREAMS, Size, auction_house, generate

pytestmark = pytest.mark.spark
BIDS = 60_123


@pytest.fixture(scope="module")
def house(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    generate(session, folder, BIDS, files=4, seed=5)
    return folder


def rows(folder: Path, stream: str) -> pl.DataFrame:
    """All rows of a stream, in the order of its files."""
    return pl.concat(pl.read_parquet(file) for file in sorted((folder / stream).glob("*.parquet")))


@pytest.mark.parametrize("stream", STREAMS)
def test_files_are_in_the_order_of_time(house: Path, stream: str) -> None:
    files = sorted((house / stream).glob("*.parquet"))
    assert 2 <= len(files) <= 4, "slices without rows have no file"
    assert rows(house, stream)["ts"].is_sorted()
    assert [file.stat().st_mtime for file in files] == sorted({f.stat().st_mtime for f in files})


def test_rows_depend_on_the_seed_alone(session: SparkSession, house: Path) -> None:
    size = Size(BIDS)
    bids = rows(house, "bid").with_columns(pl.col("ts").to_physical())
    for seed, partitions, same in ((5, 1, True), (5, 7, True), (6, 2, False)):
        frame = auction_house(session, size, seed)["bid"].repartition(partitions)
        again = pl.DataFrame(frame.toArrow())
        assert bids.sort(bids.columns).equals(again.sort(bids.columns)) is same


def test_rates_are_those_of_the_text(house: Path) -> None:
    heights = [rows(house, stream).height for stream in STREAMS]
    assert heights == [BIDS // 100, BIDS // 10, BIDS // 10, BIDS]
    per_item = rows(house, "bid").group_by("item").len()["len"]
    assert per_item.max() < 60
    assert 8 < per_item.median() < 12


def test_bids_come_in_bursts(house: Path) -> None:
    # In the first two days auctions are still being opened for the first time.
    bids = rows(house, "bid").filter(pl.col("ts").dt.day().is_between(3, 4))
    at_once = bids.group_by("ts").len()["len"]
    assert 4 < at_once.mean() < 8
    assert at_once.max() >= 12


def test_bids_are_made_while_the_auction_is_open_and_prices_rise(house: Path) -> None:
    opened = rows(house, "open_auction").rename({"ts": "opened"})
    closed = rows(house, "closed_auction").rename({"ts": "closed"})
    bids = rows(house, "bid").join(opened, on="item").join(closed, on="item")
    assert bids.height == BIDS
    assert (bids["opened"] <= bids["ts"]).all()
    assert (bids["ts"] < bids["closed"]).all()
    assert (bids["closed"] - bids["opened"]).max() < timedelta(days=2)
    assert (bids["price"] > bids["start_price"]).all()
    highest = bids.group_by("item", "ts").agg(low=pl.col("price").min(), high=pl.col("price").max())
    falls = highest.sort("item", "ts").with_columns(before=pl.col("high").shift(1).over("item"))
    assert falls.filter(pl.col("low") < pl.col("before")).is_empty()


def test_sellers_and_bidders_have_registered(house: Path) -> None:
    persons = rows(house, "person").rename({"ts": "registered"})
    for stream, role in (("open_auction", "seller"), ("bid", "bidder")):
        known = rows(house, stream).join(persons, left_on=role, right_on="id")
        assert known.height == rows(house, stream).height
        assert (known["registered"] <= known["ts"]).all()


def test_a_size_needs_bids() -> None:
    with pytest.raises(TidemillError, match="at least one bid"):
        Size(0)


def test_generate_says_what_it_wrote(tmp_path: Path) -> None:
    arguments = [str(tmp_path / "nexmark"), "--bids", "2000", "--files", "2"]
    result = CliRunner().invoke(app, ["nexmark", "generate", *arguments])
    assert result.exit_code == 0, result.output
    assert "2,000 bids, 200 auctions opened and closed, 20 persons" in result.stdout
    assert len(list((tmp_path / "nexmark" / "bid").glob("*.parquet"))) == 2
