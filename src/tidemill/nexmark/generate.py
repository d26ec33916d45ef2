"""Generate the streams of an auction house, on Spark, as Parquet files in the order of time.

Every value is a hash of the seed and of the number of its row: no random generator walks along
the rows, so the same seed gives the same rows however many tasks make them.

The rates come from the text's experiments: ten bids to an auction, ten auctions to a person,
auctions of two days at most, 9.6 bids a minute, which come in bursts of six on average.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill.errors import TidemillError

STREAMS = ("person", "open_auction", "closed_auction", "bid")
BIDS_PER_AUCTION = 10
AUCTIONS_PER_PERSON = 10
LONGEST_AUCTION = 2 * 24 * 60 * 60 * 1_000_000
MICROSECONDS_PER_BID = 6_250_000
MICROSECONDS_PER_BURST = 6 * MICROSECONDS_PER_BID
BEGINNING = 1_709_251_200_000_000  # 2024-03-01 00:00 UTC
FIRST_ITEM = 1000

_SHORTEST = 60_000_000
_CELL = 600_000_000  # files are cut at multiples of ten minutes
_ROW_GROUP = 8 << 20  # small enough for several tasks to read one file
_POOL = 10  # auctions that share the bids made for them
_CENT = 0.01


@dataclass(frozen=True)
class Size:
    """How many rows each stream has, given the number of bids.

    >>> Size(1_000_000)
    Size(bids=1000000, auctions=100000, persons=10000)
    """

    bids: int
    auctions: int = 0
    persons: int = 0

    def __post_init__(self) -> None:
        if self.bids < 1:
            raise TidemillError("there must be at least one bid", help="for example --bids 100000")
        auctions = max(1, self.bids // BIDS_PER_AUCTION)
        object.__setattr__(self, "auctions", auctions)
        object.__setattr__(self, "persons", max(1, auctions // AUCTIONS_PER_PERSON))

    @property
    def events(self) -> int:
        """Rows of all streams together; an auction is opened and closed."""
        return self.bids + 2 * self.auctions + self.persons


def generate(
    session: SparkSession, path: str | Path, bids: int, files: int = 10, seed: int = 1
) -> Size:
    """Write the four streams below a folder, each in up to `files` files that are ticks.

    The files of all streams are cut at the same instants, so that streams read file by file
    stay side by side in time.
    """
    size = Size(bids)
    frames = auction_house(session, size, seed)
    cuts = _cuts(frames["bid"], files)
    for name, frame in frames.items():
        _write(frame, Path(path, name), cuts)
    return size


def auction_house(session: SparkSession, size: Size, seed: int) -> dict[str, DataFrame]:
    """The four streams by name; `ts` is the instant in microseconds, rows are in no order."""
    dice = _Dice(seed)
    numbers = session.range(size.auctions).withColumnRenamed("id", "auction")
    return {
        "person": _persons(session, size, dice),
        "open_auction": numbers.select(
            _item(),
            _person("seller", dice, F.col("auction")),
            dice.start_price().alias("start_price"),
            dice.opened().alias("ts"),
        ),
        "closed_auction": numbers.select(_item(), (dice.opened() + dice.duration()).alias("ts")),
        "bid": _bids(session, size, dice),
    }


class _Dice:
    """Random values that depend on the seed, on what they are for, and on a number."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def unit(self, purpose: str, number: Column) -> Column:
        """A number in [0, 1)."""
        drawn = F.xxhash64(F.lit(self._seed), F.lit(purpose), number)
        return F.shiftrightunsigned(drawn, 11).cast("double") * F.lit(2.0**-53)

    def before(self, purpose: str, number: Column, limit: int) -> Column:
        """A length of time in [0, limit), in whole milliseconds."""
        return _milliseconds(self.unit(purpose, number) * limit)

    def opened(self) -> Column:
        """When an auction opens: auctions are numbered in the order in which they open."""
        between = BIDS_PER_AUCTION * MICROSECONDS_PER_BID
        auction = F.col("auction")
        return F.lit(BEGINNING) + auction * between + self.before("opened", auction, between)

    def duration(self) -> Column:
        """How long an auction is open: short ones are more frequent than long ones."""
        share = self.unit("duration", F.col("auction"))
        return _milliseconds(share * share * (LONGEST_AUCTION - _SHORTEST)) + _SHORTEST

    def start_price(self) -> Column:
        share = self.unit("price", F.col("auction"))
        return F.round(F.lit(1.0) + share * share * 499, 2)


def _milliseconds(microseconds: Column) -> Column:
    """Time in microseconds, but no finer than milliseconds, as other systems have it."""
    return F.floor(microseconds / 1000).cast("long") * 1000


def _item() -> Column:
    return (F.col("auction") + FIRST_ITEM).alias("item")


def _persons(session: SparkSession, size: Size, dice: _Dice) -> DataFrame:
    between = AUCTIONS_PER_PERSON * BIDS_PER_AUCTION * MICROSECONDS_PER_BID
    person = F.col("id")
    registered = F.lit(BEGINNING) + person * between
    # The first person is there from the beginning, so that every auction has a seller.
    later = F.when(person > 0, dice.before("registered", person, between)).otherwise(0)
    name = F.concat(F.lit("person "), person)
    return session.range(size.persons).select(
        person, name.alias("name"), (registered + later).alias("ts")
    )


def _person(role: str, dice: _Dice, drawn_for: Column) -> Column:
    """Someone who has registered before the auction opens, rather a newcomer than not."""
    newest = F.floor(F.col("auction") / AUCTIONS_PER_PERSON) - 1
    share = dice.unit(role, drawn_for)
    return F.greatest(F.lit(0), newest - F.floor(share * share * 1000)).cast("long").alias(role)


def _bids(session: SparkSession, size: Size, dice: _Dice) -> DataFrame:
    """Bids: for ten auctions together a hundred, spread over them by chance."""
    number = F.col("id")
    share = dice.unit("auction", number)
    chosen = F.floor(number / (_POOL * BIDS_PER_AUCTION)) * _POOL + F.floor(share * _POOL)
    last = F.lit(size.auctions - 1)
    bids = session.range(size.bids).select(
        "id", F.least(chosen, last).cast("long").alias("auction")
    )
    bids = bids.withColumns(
        {
            "opened": dice.opened(),
            "duration": dice.duration(),
            "moment": dice.unit("moment", number),
        }
    )
    # Squared, and from the end: most bids are made shortly before the auction closes.
    moment = F.lit(1.0) - F.col("moment") * F.col("moment")
    rise = F.lit(0.2) + dice.unit("rise", F.col("auction")) * 3
    return bids.withColumn("moment", moment * 0.999).select(
        _item(),
        F.round(dice.start_price() * (F.lit(1.0) + rise * F.col("moment")) + _CENT, 2).alias(
            "price"
        ),
        _person("bidder", dice, number),
        _burst(dice).alias("ts"),
    )


def _burst(dice: _Dice) -> Column:
    """The instant of a bid: bids of about the same time come at the same instant."""
    made = F.col("opened") + _milliseconds(F.col("duration") * F.col("moment"))
    slot = F.floor(made / MICROSECONDS_PER_BURST).cast("long")
    late = dice.before("burst", slot, MICROSECONDS_PER_BURST)
    instant = slot * MICROSECONDS_PER_BURST + late
    # Not before the auction opens, and not when it is over.
    inside = (instant >= F.col("opened")) & (instant < F.col("opened") + F.col("duration"))
    return F.when(inside, instant).otherwise(made)


def _cuts(bids: DataFrame, files: int) -> list[int]:
    """The instants at which a new file begins, so that files have about as many bids each."""
    if files < 2:
        return []
    shares = [number / files for number in range(1, files)]
    cell = F.floor(F.col("ts") / _CELL).cast("long")
    counted = bids.groupBy(cell.alias("cell")).count()
    found = counted.agg(F.percentile("cell", shares, F.col("count")).alias("cuts")).first()
    assert found is not None
    return sorted({int(each) * _CELL for each in found["cuts"]})


def _write(frame: DataFrame, folder: Path, cuts: Sequence[int]) -> None:
    """Write the rows of each slice of time as one file, named and dated in the order of time."""
    ts = F.col("ts")
    slice_of = sum((F.when(ts >= cut, 1).otherwise(0) for cut in cuts), F.lit(0))
    columns = [
        F.timestamp_micros(ts).cast("timestamp_ntz").alias(n) if n == "ts" else F.col(n)
        for n in frame.columns
    ]
    rows = frame.repartitionById(len(cuts) + 1, slice_of.cast("int"))
    ordered = rows.sortWithinPartitions("ts", *(name for name in frame.columns if name != "ts"))
    made = folder / "_made"
    shutil.rmtree(folder, ignore_errors=True)
    writer = ordered.select(*columns).write.option("parquet.block.size", _ROW_GROUP)
    writer.parquet(made.absolute().as_uri())
    for part in sorted(made.glob("part-*.parquet")):
        number = int(part.name.split("-")[1])
        file = folder / f"{number:05d}.parquet"
        part.rename(file)
        # Spark reads the older of two files first.
        os.utime(file, (BEGINNING // 1_000_000 + number, BEGINNING // 1_000_000 + number))
    shutil.rmtree(made)
