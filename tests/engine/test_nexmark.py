"""The auction queries of the text: their SQL, its data set, its answers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.golden.loader import Case, cases, contents
from tidemill.algebra import Granularity, TimeWindow
from tidemill.reference import LogicalStream
from tidemill.testing import assert_snapshots_equal

MINUTE = 60 * 1_000_000
TYPES = {"INT": pa.int64(), "REAL": pa.float64(), "TEXT": pa.string()}
ROWS_PER_TICK = [pytest.param(1000, id="one tick"), pytest.param(2, id="small ticks")]


@dataclass(frozen=True)
class Clock:
    """How the minutes of the data set are told: as ticks, or as timestamps."""

    type: pa.DataType
    minute: int

    def sql(self, text: str) -> str:
        """A query in this time: durations as they are, or as numbers of minutes."""
        if self.minute == MINUTE:
            return text
        in_minutes = {"MINUTE": 1, "HOUR": 60, "DAY": 24 * 60}
        duration = r"(\d+) (MINUTE|HOUR|DAY)S?"
        return re.sub(duration, lambda m: str(int(m[1]) * in_minutes[m[2]]), text)


TICKS, TIMESTAMPS = Clock(pa.int64(), 1), Clock(pa.timestamp("us"), MINUTE)
CLOCKS = [pytest.param(TICKS, id="ticks"), pytest.param(TIMESTAMPS, id="timestamps")]


def stream_tables(name: str, rows_per_tick: int, clock: Clock) -> list[pa.Table]:
    """The rows of a stream, cut into ticks of the engine."""
    attributes = [text.split() for text in contents("nexmark")["schemas"][name]["attributes"]]
    fields = [(column, TYPES[kind]) for column, kind in attributes]
    schema = pa.schema([*fields, ("timestamp", clock.type)])
    names = [column for column, _ in fields]
    rows = [
        {**dict(zip(names, values, strict=True)), "timestamp": minute * clock.minute}
        for values, minute in contents("nexmark")["data"][name]
    ]
    cuts = range(0, len(rows), rows_per_tick)
    return [pa.Table.from_pylist(rows[at : at + rows_per_tick], schema) for at in cuts]


def auction(rows_per_tick: int = 1000, clock: Clock = TIMESTAMPS) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    for name in ("OpenAuction", "ClosedAuction", "Bid", "sensor"):
        engine.stream(name, stream_tables(name, rows_per_tick, clock), time="timestamp")
    (person,) = stream_tables("Person", 1000, clock)
    never = pa.nulls(person.num_rows, clock.type)
    engine.relation("Person", person.append_column("until", never), valid=("timestamp", "until"))
    engine.function("DolToEuro", lambda dollars: dollars * 4 / 5, returns="DOUBLE")
    return engine


def in_minutes(table: pa.Table, clock: Clock) -> list[tuple[Any, int, int | None]]:
    """Rows with their validity; a now-window lasts a chronon, and a minute in the data set."""
    rows = table.drop_columns(["valid_from", "valid_to"]).to_pylist()
    starts = table["valid_from"].cast(pa.int64()).to_pylist()
    ends = table["valid_to"].cast(pa.int64()).to_pylist()
    return [
        (
            tuple(row.values()),
            start // clock.minute,
            None if end is None else -(-end // clock.minute),
        )
        for row, start, end in zip(rows, starts, ends, strict=True)
    ]


def answers(stream: list[list[Any]]) -> LogicalStream:
    horizon = 4000

    def at(t: int) -> Counter[tuple[Any, ...]]:
        return Counter(
            tuple(value) for value, start, end in stream if start <= t and (end == "inf" or t < end)
        )

    return LogicalStream.build(horizon, at)


def case_of(name: str) -> Case:
    return next(case for case in cases("nexmark") if case.id == name)


def check(query: tm.Query | None, expected: list[list[Any]], clock: Clock) -> None:
    assert query is not None
    wanted = answers(expected)
    instants = sorted({t for _, s, e in expected for t in (s - 1, s, s + 1, e) if t != "inf"})
    near = sorted({t for i in instants for t in (i - 1, i, i + 1) if 0 <= t <= 4000} | {0, 4000})
    assert_snapshots_equal(in_minutes(query.collect(), clock), wanted, near)


QUERIES = ["q1", "q2", "q3", "q4", "q6", "q8"]


@pytest.mark.parametrize("rows_per_tick", ROWS_PER_TICK)
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("name", QUERIES)
def test_query(name: str, clock: Clock, rows_per_tick: int) -> None:
    case = case_of(f"nexmark.{name}")
    query = auction(rows_per_tick, clock).sql(clock.sql(case.facts["text"]))
    assert query is not None
    assert list(query.schema.names) == case.facts["result_attributes"]
    if name == "q8" and clock is TIMESTAMPS:
        check_tumbling(query)
    else:
        check(query, case.expected, clock)


def check_tumbling(query: tm.Query) -> None:
    """A sliding window moves one chronon before the full ten minutes: with timestamps that is
    a microsecond, in the data set it is a minute."""
    assert [row["bid_price"] for row in _at(query, 10 * MINUTE - 2)] == []
    assert [row["bid_price"] for row in _at(query, 10 * MINUTE - 1)] == [120, 120]
    assert [row["bid_price"] for row in _at(query, 20 * MINUTE - 2)] == [120, 120]
    assert [row["bid_price"] for row in _at(query, 20 * MINUTE - 1)] == []
    assert [row["itemID"] for row in _at(query, 75 * MINUTE)] == [2001]


def _at(query: tm.Query, instant: int) -> list[dict[str, Any]]:
    return list(query.snapshot(instant).to_pylist())


@pytest.mark.parametrize("rows_per_tick", ROWS_PER_TICK)
@pytest.mark.parametrize("clock", CLOCKS)
def test_derived_streams(clock: Clock, rows_per_tick: int) -> None:
    """Closing price and average selling price: queries over the streams of other queries."""
    engine, case = auction(rows_per_tick, clock), case_of("nexmark.q5")
    assert engine.sql(clock.sql(case.facts["text"])) is None
    current = case.facts["expected_current_price"]
    check(engine.sql("SELECT * FROM CurrentPrice"), current, clock)
    check(engine.sql("SELECT * FROM ClosingPriceStream"), case.expected, clock)
    average = case_of("nexmark.q7")
    check(engine.sql(average.facts["text"]), average.expected, clock)
    of_two = average.facts["text"].replace("ROWS 10", "ROWS 2")
    check(engine.sql(of_two), average.facts["expected_with_rows_2"], clock)


@pytest.mark.parametrize("rows_per_tick", ROWS_PER_TICK)
@pytest.mark.parametrize("clock", CLOCKS)
def test_new_users(clock: Clock, rows_per_tick: int) -> None:
    case = case_of("nexmark.q9")
    text = clock.sql(case.facts["text"])
    check(auction(rows_per_tick, clock).sql(text), case.expected, clock)


def test_granularity() -> None:
    """The answer is exact at the multiples of the granule, and holds until the next."""
    case = case_of("nexmark.sensor.granularity")
    query = auction().sql(case.facts["text"])
    assert query is not None
    rows = {t: _at(query, t * MINUTE) for t in range(0, 181, 30)}
    found = {t: [list(row.values()) for row in here] for t, here in rows.items() if here}
    assert found == {t: [value] for value, t, _ in case.expected}


def test_quality_bounds_are_kept_in_the_plan() -> None:
    query = auction().sql(case_of("nexmark.sensor.qos").facts["text"])
    assert query is not None
    window = next(n for n in query.planned.plan.walk() if isinstance(n, TimeWindow))
    granularity = next(n for n in query.planned.plan.walk() if isinstance(n, Granularity))
    hour = 60 * MINUTE
    assert window.bounds is not None
    assert granularity.bounds is not None
    assert (window.size, window.bounds[:2]) == (24 * hour, (12 * hour, 24 * hour))
    assert granularity.bounds[:2] == (10 * 1_000_000, 2 * hour)
    assert "min=43200000000 max=86400000000" in query.explain()


def test_source_registration() -> None:
    engine = tm.Engine(runtime="inprocess")
    assert engine.sql(case_of("nexmark.ddl.open_auction").facts["text"]) is None
    query = engine.sql("SELECT * FROM OpenAuction")
    assert query is not None
    assert query.schema.names == ("itemID", "sellerID", "start_price")


def test_nothing_is_forgotten() -> None:
    run = {f"nexmark.{q}" for q in [*QUERIES, "q5", "q7", "q9"]}
    run |= {"nexmark.sensor.granularity", "nexmark.sensor.qos", "nexmark.ddl.open_auction"}
    assert {case.id for case in cases("nexmark")} == run
