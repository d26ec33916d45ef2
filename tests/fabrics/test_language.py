"""What newer clauses of the language answer: the same on both fabrics, in one pass each."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa

import tidemill as tm
from tests.fabrics.answers import Results, net_changes, query_of
from tests.fabrics.ground import Ground
from tests.fabrics.test_choices import engine_of, tables

QUERIES = (
    "SELECT a.k, u.x FROM a WINDOW(RANGE 4) CROSS JOIN UNNEST(ARRAY(a.v, a.g)) AS u(x)",
    "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC) AS n,"
    " SUM(v) OVER (PARTITION BY g ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s"
    " FROM a WINDOW(RANGE 4)",
    "SELECT k, COUNT(*) AS n, MIN(v) AS low FROM a WINDOW(PARTITION BY k SESSION 2) GROUP BY k",
    "SELECT window_start, k, COUNT(*) AS n"
    " FROM TABLE(HOP(TABLE b, DESCRIPTOR(at), 2, 6)) GROUP BY window_start, k",
    "SELECT g, FIRST(v) AS f, LAST(v) AS l, LAST(k) IGNORE NULLS AS k"
    " FROM c WINDOW(RANGE 5) GROUP BY g",
    "SELECT k, v FROM b WINDOW(RANGE 5) ORDER BY k FETCH FIRST 2 ROWS WITH TIES",
    "SELECT a.v, x.v AS w FROM a WINDOW(RANGE 3) LEFT JOIN LATERAL ("
    "SELECT v FROM b WINDOW(RANGE 4) WHERE b.k = a.k ORDER BY v DESC LIMIT 2) AS x ON TRUE",
    "SELECT v, (SELECT v FROM b WINDOW(RANGE 4) WHERE b.k = a.k ORDER BY v LIMIT 1) AS low"
    " FROM a WINDOW(RANGE 3)",
    "SELECT window_start, window_end, k, COUNT(*) AS n"
    " FROM TABLE(SESSION(TABLE a PARTITION BY k, DESCRIPTOR(at), 2)) GROUP BY 1, 2, 3",
    "SELECT k, v FROM a WINDOW(RANGE 3) UNION ALL BY NAME SELECT v, g FROM b WINDOW(RANGE 3)",
    # Of one shape: they differ in constants, inside of functions too.
    "SELECT k, filter(array(v, g), x -> x > 1) AS l FROM a WINDOW(RANGE 4) WHERE (k, v) > (0, 2)",
    "SELECT k, filter(array(v, g), x -> x > 2) AS l FROM a WINDOW(RANGE 4) WHERE (k, v) > (1, 2)",
)
CLOCK = (
    "SELECT window.start AS s, k, SUM(v) AS n FROM a"
    " GROUP BY window(at, '6 minutes', '2 minutes'), k",
    "SELECT window.end AS e, LAST(v) AS l FROM b GROUP BY window(at, '5 minutes')",
    "SELECT SESSION_END(at, INTERVAL '2' MINUTES) AS e, k, COUNT(*) AS n FROM a"
    " GROUP BY SESSION(at, INTERVAL '2' MINUTES), k",
)


def with_clock(fabric: Ground, partitions: int = 2) -> tm.Engine:
    """The streams with minutes of a day for their instants."""
    engine = fabric.engine(partitions)
    for name in ("a", "b"):
        engine.stream(name, [_minutes(table) for table in tables(name)], time="at")
    return engine


def _minutes(table: pa.Table) -> pa.Table:
    day = datetime(2024, 3, 1)
    times = [day + timedelta(minutes=at) for at in table["at"].to_pylist()]
    return table.set_column(3, "at", pa.array(times, pa.timestamp("us")))


def check(engine: tm.Engine, alone: tm.Engine, texts: tuple[str, ...]) -> None:
    sinks = [Results() for _ in texts]
    queries = [query_of(engine, text) for text in texts]
    pairs = zip(queries, sinks, strict=True)
    running = engine.start(*(query.into(sink) for query, sink in pairs), available_now=True)
    assert running.await_termination()
    for text, sink in zip(texts, sinks, strict=True):
        expected = net_changes(query_of(alone, text).collect())
        assert expected, text
        assert net_changes(sink.table) == expected, text


def test_the_same_answers(fabric: Ground) -> None:
    check(engine_of(fabric), engine_of(Ground(), partitions=1), QUERIES)


def test_the_same_answers_by_the_clock(fabric: Ground) -> None:
    check(with_clock(fabric), with_clock(Ground(), partitions=1), CLOCK)
