"""Queries whose result is a table in PostgreSQL."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import table_rows
from tests.docs.pages import ROOT, Session, examples, expected
from tests.fabrics.answers import query_of, wait_for
from tests.fabrics.ground import Ground, everywhere
from tidemill.errors import ExecutionError


def into(database: Database, sql: str, table: str = "result", **options: str) -> str:
    given = {"url": database.url, "table": table, **options}
    shown = ", ".join(f"{name} => '{value}'" for name, value in given.items())
    return f"INSERT INTO postgres({shown}) {sql}"


@everywhere
def test_from_a_table_that_changes_into_another(
    fabric: Ground, database: Database, tmp_path: Path
) -> None:
    """A row of the stream finds what is in the table when it comes."""
    database.run("CREATE TABLE t (k bigint, v text)", "INSERT INTO t VALUES (1, 'before')")
    files = tmp_path / "files"
    files.mkdir()
    engine = fabric.engine()
    engine.sql(f"""
        CREATE STREAM s (k BIGINT, at BIGINT) SOURCE parquet(path => '{files}') ORDERED BY at;
        CREATE RELATION r (k BIGINT, v STRING)
        SOURCE postgres(url => '{database.url}', table => 't') CHANGING
    """)
    sql = "SELECT s.k, s.at, r.v FROM s WINDOW(RANGE 100) JOIN r ON s.k = r.k"
    query = query_of(engine, into(database, sql))
    running = query.start(checkpoint=str(tmp_path / "checkpoint"))
    with pytest.raises(ExecutionError, match="holds the result of another query"):
        query.start()

    def come(at: int) -> None:
        part = tmp_path / f"{at}.part"
        pq.write_table(pa.table({"k": [1], "at": [at]}), part)
        part.rename(files / f"{at}.parquet")

    def found(*values: tuple[int, str]) -> None:
        rows = Counter((1, at, v) for at, v in values)
        wait_for(lambda: table_rows(database, "result") == rows, seconds=180)

    try:
        come(1)
        come(2)
        found((1, "before"))
        database.run("UPDATE t SET v = 'after'")
        come(5)
        come(6)
        found((1, "before"), (2, "before"), (5, "after"))
    finally:
        running.stop()


@pytest.mark.spark
def test_the_page_of_the_documentation(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where its checkpoint goes
    page = (ROOT / "docs" / "postgres.md").read_text("utf-8")
    reader = Session()
    for example in examples(page.replace("postgresql://shop@localhost/shop", database.url)):
        output, shown = reader.run(example.block), expected(example)
        assert shown is None or output == shown
    reader.names["shop"].close()


def test_intervals_of_two_queries(fabric: Ground, database: Database) -> None:
    at = [datetime(2024, 1, 1, 12, minute) for minute in (0, 1, 5)]
    engine = fabric.engine()
    engine.stream("s", pa.table({"k": ["a", "b", None], "at": at}), time="at")
    select = "SELECT k FROM s WINDOW(RANGE 2 MINUTES)"
    queries = [
        query_of(engine, into(database, select, "all_rows", form="intervals")),
        query_of(
            engine, into(database, f"{select} WHERE k IS NULL", "some_rows", form="intervals")
        ),
    ]
    engine.start(*queries, available_now=True).await_termination()
    rows = [
        (k, start, start.replace(minute=start.minute + 2))
        for k, start in zip(["a", "b", None], at, strict=True)
    ]
    assert table_rows(database, "all_rows") == Counter(rows)
    assert table_rows(database, "some_rows") == Counter(rows[2:])
