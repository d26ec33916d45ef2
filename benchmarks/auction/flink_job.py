"""Flink SQL over CSV files; run by `serving` with the interpreter of another environment.

It must not import Tidemill, which that environment does not have.
"""

from __future__ import annotations

import time
from typing import Any

_TABLES = {
    "bid": "item BIGINT, price DOUBLE, bidder BIGINT",
    "open_auction": "item BIGINT, seller BIGINT, start_price DOUBLE",
    "closed_auction": "item BIGINT",
    "person": "id BIGINT, name STRING",
}
# All prices of an item with its end, and the highest of them. An item is closed once, so a window
# of one instant at its end has them all; it says to Flink that no more will come.
_CLOSING = """
    SELECT item, MAX(seller) AS seller, MAX(price) AS price, MAX(ts) AS closed, window_time
    FROM TABLE(TUMBLE(TABLE prices, DESCRIPTOR(ts), INTERVAL '0.001' SECOND))
    GROUP BY item, window_start, window_end, window_time
"""
_VIEWS = {
    "prices": """
        SELECT p.item, p.price, p.seller, c.ts
        FROM (SELECT item, price, CAST(NULL AS BIGINT) AS seller, ts FROM bid
              UNION ALL SELECT item, start_price, seller, ts FROM open_auction) AS p,
             closed_auction AS c
        WHERE p.item = c.item AND c.ts >= p.ts AND c.ts < p.ts + INTERVAL '2' DAY
    """,
    "openings": """
        SELECT p.id, p.name, o.ts FROM person AS p, open_auction AS o
        WHERE p.id = o.seller AND o.ts >= p.ts AND o.ts < p.ts + INTERVAL '12' HOUR
    """,
}
_HOURLY = """
    SELECT item, COUNT(*) AS bids, window_start, window_end
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '60' MINUTE))
    GROUP BY item, window_start, window_end
"""
QUERIES = {
    "q1": (
        "item BIGINT, euros DOUBLE, bidder BIGINT",
        "SELECT item, price * 0.8E0, bidder FROM bid",
    ),
    "q2": (
        "item BIGINT, price DOUBLE, bidder BIGINT",
        "SELECT item, price, bidder FROM bid WHERE item IN (1007, 1020, 1087, 2001, 2019)",
    ),
    "q3": (
        "item BIGINT, seller BIGINT, start_price DOUBLE",
        "SELECT o.item, o.seller, o.start_price FROM open_auction AS o, closed_auction AS c "
        "WHERE o.item = c.item AND c.ts >= o.ts AND c.ts < o.ts + INTERVAL '5' HOUR",
    ),
    "q4": (
        "item BIGINT, price DOUBLE, at_end TIMESTAMP(3)",
        "SELECT item, price, window_end FROM (SELECT *, ROW_NUMBER() OVER "
        "(PARTITION BY window_start, window_end ORDER BY price DESC) AS place FROM TABLE(HOP("
        "TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))) WHERE place = 1",
    ),
    "q5": (
        "item BIGINT, seller BIGINT, price DOUBLE, closed TIMESTAMP(3)",
        f"SELECT item, seller, price, closed FROM ({_CLOSING})",
    ),
    "q6": (
        "item BIGINT, bids BIGINT, at_end TIMESTAMP(3)",
        "SELECT item, bids, window_end FROM (SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY window_start, window_end ORDER BY bids DESC) AS place FROM ({_HOURLY})) "
        "WHERE place = 1",
    ),
    "q7": (
        "seller BIGINT, average DOUBLE, closed TIMESTAMP(3)",
        "SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY window_time "
        f"ROWS BETWEEN 9 PRECEDING AND CURRENT ROW), closed FROM ({_CLOSING})",
    ),
    "q8": (
        "id BIGINT, name STRING, opened TIMESTAMP(3)",
        "SELECT id, name, MAX(ts) FROM TABLE(TUMBLE(TABLE openings, DESCRIPTOR(ts), "
        "INTERVAL '0.001' SECOND)) GROUP BY id, name, window_start, window_end",
    ),
    "sellers": (
        "item BIGINT, price DOUBLE, seller BIGINT, start_price DOUBLE",
        "SELECT b.item, b.price, o.seller, o.start_price FROM bid AS b, open_auction AS o "
        "WHERE b.item = o.item AND b.ts >= o.ts AND b.ts < o.ts + INTERVAL '2' DAY",
    ),
    "counts": (
        "item BIGINT, bids BIGINT, at_end TIMESTAMP(3)",
        f"SELECT item, bids, window_end FROM ({_HOURLY})",
    ),
    "counts over": (
        "item BIGINT, bids BIGINT, at_bid TIMESTAMP(3)",
        "SELECT item, COUNT(*) OVER (PARTITION BY item ORDER BY ts RANGE BETWEEN "
        "INTERVAL '59:59.999' MINUTE TO SECOND PRECEDING AND CURRENT ROW), ts FROM bid",
    ),
}


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Run a query over a folder of CSV files; with a `file`, write the answer below it."""
    from pyflink.table import (  # type: ignore[import-not-found]
        EnvironmentSettings,
        TableEnvironment,
    )

    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    # State is in the heap, and there are no checkpoints: Flink's defaults, and its fastest.
    flink.get_config().set("parallelism.default", str(request["partitions"]))
    flink.get_config().set("pipeline.object-reuse", "true")
    # Several rows have the same time, and none is before the last: a millisecond's delay will do.
    ordered = "ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND"
    for table, columns in _TABLES.items():
        files = f"'format' = 'csv', 'path' = '{request['data']}/{table}'"
        flink.execute_sql(
            f"CREATE TABLE {table} ({columns}, {ordered}) "
            f"WITH ('connector' = 'filesystem', {files})"
        )
    for view, query in _VIEWS.items():
        flink.execute_sql(f"CREATE VIEW {view} AS {query}")
    columns, query = QUERIES[request["query"]]
    sink = "'connector' = 'blackhole'"
    if request["do"] == "answer":
        sink = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{request['file']}'"
    flink.execute_sql(f"CREATE TABLE results ({columns}) WITH ({sink})")
    began = time.perf_counter()
    flink.execute_sql(f"INSERT INTO results {query}").wait()
    return {"seconds": time.perf_counter() - began}
