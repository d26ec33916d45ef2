"""What other systems write, and what to write here instead: the words of refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot.tokens import Token, TokenType

__all__ = ["CLAUSES", "CREATED", "EXPLAINED", "FUNCTIONS", "STATEMENTS", "find_foreign"]

_RUNS: Final = "CREATE QUERY name AS SELECT ..., then START QUERY name"
_TUMBLE: Final = (
    "write FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES) "
    "GROUP BY window_start, window_end"
)
_RECURSION: Final = "write the steps out as queries of their own"
_SERIES: Final = "unnest a list: UNNEST(sequence(1, 3)) AS s(n)"
_NO_VERSION: Final = (
    "leave it out: a row of a stream without a window meets the rows that hold at its instant, "
    "and query.snapshot(instant) is the answer at an instant"
)

STATEMENTS: Final = {
    "UPDATE": "write DELETE FROM and INSERT INTO, both with the same AT",
    "MERGE": "write DELETE FROM and INSERT INTO, both with the same AT",
    "UPSERT": "write DELETE FROM and INSERT INTO, both with the same AT",
    "TRUNCATE": "write DELETE FROM name",
    "SUBSCRIBE": "write ISTREAM(SELECT ...) for rows that come, DSTREAM for those that go",
    "TAIL": "write ISTREAM(SELECT ...) for rows that come, DSTREAM for those that go",
    "TABLE": "write SELECT * FROM name",
    "EXECUTE": "write the statements one after the other: all queries of a script start together",
    "BEGIN": "leave it out: every statement takes effect as a whole",
    "COMMIT": "leave it out: every statement takes effect as a whole",
    "ROLLBACK": "leave it out: every statement takes effect as a whole",
    "SET": "settings are those of the engine: tidemill.Engine(...), or options of `tidemill serve`",
    "RESET": "settings are those of the engine: tidemill.Engine(...)",
    "USE": "leave it out: an engine has one set of names",
    "DECLARE": "pass values as parameters: sql(text, name=value) for :name",
    "REFRESH": "leave it out: queries see new rows by themselves",
    "CACHE": f"a query that runs keeps its answer: {_RUNS}",
    "ANALYZE": "leave it out: statistics are learned while queries run",
    "COPY": "declare the files: CREATE STREAM ... SOURCE csv(path => '...')",
}
CREATED: Final = {
    "TABLE": "write CREATE STREAM name (columns) SOURCE format(...) ORDERED BY ts SLACK 5 SECONDS,"
    " CREATE RELATION, or CREATE VIEW name AS SELECT ...",
    "EXTERNAL": "write CREATE STREAM name (columns) SOURCE format(...), or CREATE RELATION",
    "MATERIALIZED": f"write CREATE VIEW, or for a query that keeps its answer {_RUNS}",
    "TEMPORARY": "write CREATE VIEW: it lasts as long as the engine",
    "TEMP": "write CREATE VIEW: it lasts as long as the engine",
    "GLOBAL": "write CREATE VIEW",
    "INDEX": "leave it out: queries make the indexes that they need",
    "SOURCE": "write CREATE STREAM name (columns) SOURCE kafka(...) ORDERED BY ts",
    "SINK": "write CREATE QUERY name AS INSERT INTO parquet(path => '...') SELECT ...",
    "FUNCTION": "write it in Python and register it with engine.function(...)",
    "DATABASE": "leave it out: an engine has one set of names",
    "SCHEMA": "leave it out: an engine has one set of names",
    "CATALOG": "leave it out: an engine has one set of names",
    "CONNECTION": "write the options with the source: SOURCE kafka(option => 'value')",
}
FUNCTIONS: Final = {
    "mz_now": "the time that passes is a window: ts + INTERVAL '5' MINUTES > mz_now() is "
    "FROM bid WINDOW(RANGE 5 MINUTES), ts + INTERVAL '5' MINUTES <= mz_now() is "
    "WINDOW(RANGE UNBOUNDED DELAY 5 MINUTES)",
    "mz_logical_timestamp": "write a window: FROM bid WINDOW(RANGE 5 MINUTES)",
    "proctime": "use the time column of the stream; a stream without ORDERED BY has the time of "
    "arrival",
    **dict.fromkeys(["tumble", "hop", "session", "tumble_proctime", "hop_proctime"], _TUMBLE),
    "date_bin": "write date_trunc('HOUR', ts), or for windows GROUP BY window(ts, '10 minutes')",
    "time_bucket": "write date_trunc('HOUR', ts), or GROUP BY window(ts, '10 minutes')",
    "generate_series": _SERIES,
    "row": "write struct(a, b), or named_struct('x', a, 'y', b)",
    "jsonb_agg": "write ARRAY_AGG(x)",
    "json_agg": "write ARRAY_AGG(x)",
    "json_extract_scalar": "declare the field as a STRUCT or MAP column of the source",
    "json_extract": "declare the field as a STRUCT or MAP column of the source",
    "stream": "leave it out: FROM name reads the stream, and goes on",
    "stack": "write VALUES (1, 2), (3, 4), or UNNEST(ARRAY(...))",
    "range": _SERIES,
}
CLAUSES: Final = {
    "pivots": "write an aggregate for each column: SUM(x) FILTER (WHERE kind = 'a') AS a; for "
    "UNPIVOT, CROSS JOIN UNNEST(ARRAY(a, b))",
    "sample": "choose rows by a value: WHERE pmod(id, 10) = 0",
    "version": _NO_VERSION,
    "when": _NO_VERSION,
    "rows_from": "write UNNEST(...) WITH ORDINALITY for each list, and join on the places",
    "sort": "write ORDER BY: queries are partitioned as they need",
    "cluster": "leave it out: queries are partitioned as they need",
    "distribute": "leave it out: queries are partitioned as they need",
    "locks": "leave it out: what a query reads cannot change under it",
}
EXPLAINED: Final = {
    "CODEGEN": "write EXPLAIN STAGES SELECT ...",
    "ESTIMATED_COST": "write EXPLAIN COST SELECT ...",
}
# Several words stand one behind the other. These are unmistakable ...
_ANYWHERE: Final = {
    "MATCH_RECOGNIZE": "compare a row with those before it, LAG(x) OVER (PARTITION BY ... ORDER "
    "BY ts) in a subquery, or join the stream with its window: a WINDOW(RANGE 1 HOUR) JOIN b",
    "WITH RECURSIVE": _RECURSION,
    "WITH MUTUALLY RECURSIVE": _RECURSION,
    "$ $": "write the text in single quotes",
}
# ... and these may be names, unless the parser stumbles over them.
_NEARBY: Final = {
    "WATERMARK": "say it where the stream is declared: ORDERED BY ts SLACK 10 MINUTES",
    "RETURNING": "leave it out, and SELECT from the relation",
    "AS OF": _NO_VERSION,
    "~": "write regexp_like(text, pattern), or text RLIKE pattern",
}


def find_foreign(tokens: Sequence[Token]) -> tuple[Token, Token, str] | None:
    """Words that only other systems know: the first and last of them, and what to write.

    The last token is the one at which the parser gave up.
    """
    texts = ["" if t.token_type is TokenType.STRING else t.text.upper() for t in tokens]
    for words, help in [*_ANYWHERE.items(), *_NEARBY.items()]:
        wanted = words.split()
        first = 0 if words in _ANYWHERE else max(0, len(texts) - len(wanted) - 1)
        for at in range(first, len(texts) - len(wanted) + 1):
            if texts[at : at + len(wanted)] == wanted:
                return tokens[at], tokens[at + len(wanted) - 1], help
    return None
