"""What an engine knows about its streams: told, seen, shown, saved."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

import tidemill as tm
from tidemill.errors import TidemillError
from tidemill.optimize.statistics import Statistics

COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"


@pytest.fixture
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    bids = [{"item": n % 7, "price": n, "at": n} for n in range(100)]
    engine.stream("bid", bids, time="at")
    engine.stream("trade", [{"volume": 3, "at": dt.datetime(2024, 1, 1)}], time="at")
    engine.relation("kind", [{"item": 1, "name": "x"}])
    engine.relation("term", [{"item": 1, "since": 3, "until": 9}], valid=("since", "until"))
    engine.sql("CREATE STREAM high AS SELECT item FROM bid WHERE price > 50")
    return engine


def collected(engine: tm.Engine, sql: str) -> tm.Query:
    query = engine.sql(sql)
    assert query is not None
    query.collect()
    return query


@pytest.mark.parametrize(
    ("stream", "told", "rate"),
    [
        ("bid", {"rate": 3}, 3),
        ("BID", {"rate": 3, "per": 6}, 0.5),
        ("trade", {"rate": 1000}, 0.001),
        ("trade", {"rate": 60, "per": "1 minute"}, 1e-6),
        ("trade", {"rate": 2, "per": dt.timedelta(milliseconds=1)}, 0.002),
        ("term", {"rate": 4, "rows": 9, "length": 5}, 4),
    ],
)
def test_rates_are_rows_per_instant(
    engine: tm.Engine, stream: str, told: dict[str, Any], rate: float
) -> None:
    engine.hint(stream, **told)
    assert engine.statistics.of(stream).rate == pytest.approx(rate)


def test_what_was_told_wins_over_what_was_seen(engine: tm.Engine) -> None:
    engine.hint("bid", rate=50, distinct={"ITEM": 500})
    collected(engine, COUNT)
    assert engine.statistics.of("bid").rate == 50
    assert engine.statistics.of("bid").distinct == {"item": 500}
    assert engine.statistics.seen.of("bid").rate == 1
    engine.hint("bid", rate=60)
    assert engine.statistics.of("bid").rate == 60
    assert engine.statistics.of("bid").distinct == {"item": 500}, "a hint keeps those before"


def test_conditions_have_the_names_of_the_catalog(engine: tm.Engine) -> None:
    engine.hint(selectivity={"BID.Price>10 and bid.item = kind.ITEM": 0.25})
    shares = engine.statistics.known.selectivities
    assert shares == {"bid.price > 10 AND bid.item = kind.item": 0.25}


@pytest.mark.parametrize(
    ("arguments", "told", "message", "help"),
    [
        (["bidd"], {"rate": 1}, "unknown stream or relation `bidd`", "did you mean `bid`?"),
        (["high"], {"rate": 1}, "`high` is derived", "it reads bid"),
        (["bid"], {"distinct": {"itm": 3}}, "`bid` has no column `itm`", "did you mean `item`?"),
        (["bid"], {"rate": 0}, "rate: 0 is not a number greater than zero", "leave it out"),
        (["bid"], {"rate": "fast"}, "rate: 'fast' is not a number", "leave it out"),
        (["bid"], {"rate": True}, "rate: True is not a number", "leave it out"),
        (["bid"], {"rate": 1, "per": "1 second"}, "not a duration here", "of ticks"),
        (["bid"], {"rate": 1, "per": 0}, "per: 0 is not a number", "leave it out"),
        (["bid"], {"rows": 5}, "`bid` is a stream", "rate=..."),
        (["bid"], {"length": 5}, "without a validity", "WINDOW"),
        (["kind"], {"rate": 5}, "`kind` is constant", "rows=..."),
        ([], {"rate": 5}, "a hint about a stream needs its name", "engine.hint("),
        ([], {"selectivity": {"price > 3": 0.1}}, "`price` in `price > 3` has no stream", "bid."),
        ([], {"selectivity": {"bidd.price > 3": 0.1}}, "unknown stream", "did you mean `bid`?"),
        ([], {"selectivity": {"bid.prise > 3": 0.1}}, "no column `prise`", "did you mean `price`?"),
        ([], {"selectivity": {"bid.price >": 0.1}}, "is not a condition on columns", "for example"),
        ([], {"selectivity": {"1 = 1": 0.1}}, "is not a condition on columns", "for example"),
        ([], {"selectivity": {"bid.price > 3": 1.5}}, "1.5 is not a share", "0 to 1"),
    ],
)
def test_wrong_hints(
    engine: tm.Engine, arguments: list[str], told: dict[str, Any], message: str, help: str
) -> None:
    with pytest.raises(TidemillError) as caught:
        engine.hint(*arguments, **told)
    assert message in caught.value.message
    assert help in str(caught.value.help)
    assert engine.statistics.known == Statistics(), "nothing is kept of a wrong hint"


def test_the_table(engine: tm.Engine) -> None:
    engine.hint("trade", rate=1000, distinct={"volume": 123_456})
    engine.hint("term", length=20, rows=12)
    engine.hint(selectivity={"bid.price > 3": 0.12345})
    assert str(engine.statistics).splitlines() == [
        "stream  rate             rows  length  distinct",
        "term                     12    20",
        "trade   1000 per second                volume=123,000",
        "bid.price > 3: 0.123",
    ]


def test_a_dropped_stream_is_forgotten(engine: tm.Engine) -> None:
    engine.hint("trade", rate=5)
    engine.hint(selectivity={"trade.volume > 3": 0.5, "bid.price > 3": 0.5})
    collected(engine, "SELECT volume, COUNT(*) AS n FROM trade WINDOW(NOW) GROUP BY volume")
    engine.sql("DROP STREAM trade")
    assert "trade" not in engine.statistics.known.streams
    assert engine.statistics.known.selectivities == {"bid.price > 3": 0.5}


def test_saved_and_loaded(engine: tm.Engine, tmp_path: Path) -> None:
    collected(engine, COUNT)
    engine.hint("trade", rate=5)
    path = tmp_path / "statistics.json"
    engine.statistics.save(path)
    other = tm.Engine(runtime="inprocess")
    other.statistics.load(path)
    assert other.statistics.known == engine.statistics.seen != Statistics()
    assert len(path.read_text()) < 1_000


@pytest.mark.parametrize("text", ["", "[]", '{"streams": {"bid": {"speed": 3}}}', '{"a": 1}'])
def test_a_file_that_is_none(engine: tm.Engine, tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(TidemillError, match=r"other.json is not a statistics file"):
        engine.statistics.load(path)
    assert engine.statistics.known == Statistics()


def test_the_newest_run_wins_and_old_ones_are_kept(engine: tm.Engine) -> None:
    collected(engine, COUNT)
    term = "SELECT item, COUNT(*) AS n FROM term GROUP BY item"
    for _ in range(40):
        collected(engine, term)
    assert engine.statistics.of("bid").rate == 1
    assert engine.statistics.of("term").rows == 1
