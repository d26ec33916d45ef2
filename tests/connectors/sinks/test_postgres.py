"""A table of PostgreSQL in every form, once whatever happens."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Any

import pytest

from tests.connectors.postgres.conftest import Database
from tests.connectors.sinks.rows import FORMS, LOOKS, MICROSECONDS, SCHEMA, TWO, given, rows
from tidemill.connectors.sinks import SinkRequest, TableSink, make_sink
from tidemill.errors import ExecutionError

pytestmark = pytest.mark.xdist_group("postgres")


def sink_of(database: Database, form: str, query: str = "q", domain: Any = None) -> TableSink:
    options = {"url": database.url, "table": "result"}
    request = SinkRequest("postgres", options, form)
    sink = make_sink(request, SCHEMA, domain, lambda: query, spark_formats=False)
    assert isinstance(sink, TableSink)
    return sink


def held(database: Database) -> Counter[tuple[Any, ...]]:
    return Counter(database.run("SELECT * FROM result"))


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_each_form(database: Database, form: str) -> None:
    """The time of a snapshot would change all of its rows with every tick."""
    sink_of(database, form).give(given(form), 0)
    expected = [row[:2] for row in LOOKS[form]] if form == "snapshot" else LOOKS[form]
    assert held(database) == Counter(expected)


@pytest.mark.parametrize("form", FORMS)
def test_a_tick_done_again_counts_once(database: Database, form: str) -> None:
    sink = sink_of(database, form)
    sink.give(given(form), 0)
    before = held(database)
    sink.give(given(form), 0)
    sink_of(database, form).give(given(form), 0)
    assert held(database) == before
    sink.give(given(form, TWO.clear()), 1)
    assert held(database) == (Counter() if form == "snapshot" else before)


@pytest.mark.parametrize("form", ["intervals", "changes"])
def test_times_have_no_zone(database: Database, form: str) -> None:
    sink_of(database, form, domain=MICROSECONDS).give(given(form, rows((1, "a", 3, 5))), 0)
    at = dt.datetime(1970, 1, 1, 0, 0, 0, 3)
    assert at in {row[2] for row in held(database)}
    kinds = "SELECT DISTINCT data_type FROM information_schema.columns WHERE table_name = 'result'"
    assert ("timestamp without time zone",) in database.run(kinds)


def test_a_table_has_one_writer(database: Database) -> None:
    sink_of(database, "snapshot").give(TWO, 0)
    with pytest.raises(ExecutionError, match="the result of another query"):
        sink_of(database, "snapshot", query="another")
