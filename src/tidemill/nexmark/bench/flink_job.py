"""Flink SQL over CSV files. A script of its own: Flink lives in another virtual environment.

It reads a request as JSON from standard input, and writes the seconds of every query, or an
error, as JSON to standard output. It must not import Tidemill.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

_TABLES = {
    "bid": "item BIGINT, price DOUBLE, bidder BIGINT",
    "open_auction": "item BIGINT, seller BIGINT, start_price DOUBLE",
    "closed_auction": "item BIGINT",
}
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
    "sellers": (
        "item BIGINT, price DOUBLE, seller BIGINT, start_price DOUBLE",
        "SELECT b.item, b.price, o.seller, o.start_price FROM bid AS b, open_auction AS o "
        "WHERE b.item = o.item AND b.ts >= o.ts AND b.ts < o.ts + INTERVAL '2' DAY",
    ),
    "counts": (
        "item BIGINT, bids BIGINT, window_end TIMESTAMP(3)",
        "SELECT item, COUNT(*), window_end FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), "
        "INTERVAL '10' MINUTE, INTERVAL '60' MINUTE)) GROUP BY item, window_start, window_end",
    ),
    "counts over": (
        "item BIGINT, bids BIGINT",
        "SELECT item, COUNT(*) OVER (PARTITION BY item ORDER BY ts "
        "RANGE BETWEEN INTERVAL '60' MINUTE PRECEDING AND CURRENT ROW) FROM bid",
    ),
}


def serve(request: dict[str, Any]) -> dict[str, float]:
    """The seconds of each query, after a run over little data that warms everything up."""
    for name in request["queries"]:
        _run(name, request["warm"], request["cores"], None)
    return {
        name: _run(name, request["data"], request["cores"], request.get("output"))
        for name in request["queries"]
    }


def _run(name: str, data: str, cores: int, output: str | None) -> float:
    from pyflink.table import (  # type: ignore[import-not-found]
        EnvironmentSettings,
        TableEnvironment,
    )

    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    flink.get_config().set("parallelism.default", str(cores))
    flink.get_config().set("pipeline.object-reuse", "true")
    for table, columns in _TABLES.items():
        flink.execute_sql(
            f"CREATE TABLE {table} ({columns}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
            f"('connector' = 'filesystem', 'format' = 'csv', 'path' = '{data}/{table}')"
        )
    columns, query = QUERIES[name]
    sink = "'connector' = 'blackhole'"
    if output is not None:
        sink = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{output}/{name}'"
    flink.execute_sql(f"CREATE TABLE results ({columns}) WITH ({sink})")
    began = time.perf_counter()
    flink.execute_sql(f"INSERT INTO results {query}").wait()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(serve(json.load(sys.stdin))))
