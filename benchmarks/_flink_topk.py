"""The first objects in Flink SQL, over CSV files; `topk.py` runs it in Flink's environment."""

from __future__ import annotations

import time
from typing import Any

HOPS = 10  # answers per window

# Per object and window one sum, and of each window the first rows.
_QUESTION = """
INSERT INTO results
SELECT id, score, window_end FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY score DESC) AS place
    FROM (
        SELECT id, SUM(v) AS score, window_start, window_end
        FROM TABLE(HOP(TABLE rows_of_all, DESCRIPTOR(ts), {hop}, {size}))
        GROUP BY id, window_start, window_end
    )
) WHERE place <= {limit}
"""


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `WINDOW LIMIT`, the window in milliseconds, over a folder of CSV files."""
    from pyflink.table import (  # type: ignore[import-not-found]
        EnvironmentSettings,
        TableEnvironment,
    )

    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    # State is in the heap, and there are no checkpoints: Flink's defaults, and its fastest.
    flink.get_config().set("parallelism.default", str(request["partitions"]))
    flink.get_config().set("pipeline.object-reuse", "true")
    window, limit = map(int, request["query"].split())
    flink.execute_sql(
        "CREATE TABLE rows_of_all (id BIGINT, v DOUBLE, ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND) "
        f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{request['data']}')"
    )
    flink.execute_sql(
        "CREATE TABLE results (id BIGINT, score DOUBLE, at_end TIMESTAMP(3)) "
        "WITH ('connector' = 'blackhole')"
    )
    question = _QUESTION.format(hop=_seconds(window // HOPS), size=_seconds(window), limit=limit)
    began = time.perf_counter()
    flink.execute_sql(question).wait()
    return {"seconds": time.perf_counter() - began}


def _seconds(milliseconds: int) -> str:
    return f"INTERVAL '{milliseconds / 1000:.3f}' SECOND(6, 3)"
