"""The streams of the auction house: as arrivals, and as answered by our own operators."""

from __future__ import annotations

from experiments.frame import timed  # isort: split

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa

from experiments.signs.measure import Arrival, Changes, settled
from experiments.signs.plans import columns
from tidemill import Engine, Query
from tidemill.nexmark.generate import generate
from tidemill.nexmark.queries import QUERIES
from tidemill.physical.mechanisms.changes import AT, CHANGE, INSERT


@dataclass(frozen=True)
class House:
    """The rows of every stream, one table for each tick."""

    streams: Mapping[str, list[pa.Table]]

    def arrivals(self) -> list[Arrival]:
        """The rows of all streams in the order of time."""
        found: list[Arrival] = []
        for stream, tables in self.streams.items():
            frame = pl.DataFrame(pl.from_arrow(pa.concat_tables(tables)))
            instants = frame["ts"].cast(pl.Int64).to_list()
            rows = frame.drop("ts").iter_rows()
            found += [(stream, at, row) for at, row in zip(instants, rows, strict=True)]
        return sorted(found, key=lambda arrival: arrival[1])

    def query(self, name: str) -> Query:
        """A query of the benchmark over these streams, for our engine, in this process."""
        engine = Engine(runtime="inprocess")
        for stream, tables in self.streams.items():
            engine.stream(stream, tables, time="ts")
        statements = QUERIES[name].script("").split(";")
        asked = engine.sql(";".join(each for each in statements if "SOURCE" not in each))
        assert isinstance(asked, Query)
        return asked

    def seconds(self, name: str) -> float:
        """How long our operators take."""
        asked = self.query(name)

        def work() -> None:
            for _ in asked.ticks():
                pass

        return timed(work)

    def changes(self, name: str) -> Changes:
        """What rows come and go by our operators."""
        table = pl.DataFrame(self.query(name).changes())
        instants = table[AT].cast(pl.Int64).to_list()
        rows = table.drop(AT, CHANGE).iter_rows()
        found: Changes = Counter()
        for at, sign, row in zip(instants, table[CHANGE], rows, strict=True):
            found[columns(row), at] += 1 if sign == INSERT else -1
        return settled(found)


def generated(folder: Path, bids: int, ticks: int) -> House:
    """The streams as the benchmark has them, made on Spark, which alone knows how."""
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
    generate(session, folder, bids, files=ticks)
    session.stop()
    return read(folder)


def read(folder: Path) -> House:
    """The streams in a folder, each file a tick, up to the instant at which the first one ends.

    Else the others would wait for a stream that brings nothing more.
    """
    found = {
        stream.name: [pl.read_parquet(file) for file in sorted(stream.iterdir())]
        for stream in sorted(folder.iterdir())
    }
    end = min(files[-1]["ts"].max() for files in found.values())  # type: ignore[type-var]
    return House(
        {
            stream: [file.filter(pl.col("ts") <= end).to_arrow() for file in files]
            for stream, files in found.items()
        }
    )
