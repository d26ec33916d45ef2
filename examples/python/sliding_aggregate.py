"""A sliding average that is exact at every instant.

Run it: python examples/python/sliding_aggregate.py
"""

from datetime import datetime

import polars as pl

import tidemill as tm

readings = pl.DataFrame(
    {
        "room": ["hall", "attic", "hall", "hall", "attic"],
        "celsius": [19.0, 24.0, 20.0, 21.5, 25.0],
        "ts": [datetime(2024, 3, 1, 9, minute) for minute in (0, 5, 20, 50, 55)],
    }
)

engine = tm.Engine(runtime="inprocess")
engine.stream("reading", readings, time="ts")

query = engine.sql("""
    SELECT room, AVG(celsius) AS average, COUNT(*) AS readings
    FROM reading WINDOW(RANGE 30 MINUTES)
    GROUP BY room
""")

for row in query.collect().to_pylist():
    start, end = (f"{row[name]:%H:%M}" for name in ("valid_from", "valid_to"))
    print(f"[{start}, {end})  {row['room']:5}  {row['average']:.2f} of {row['readings']}")
