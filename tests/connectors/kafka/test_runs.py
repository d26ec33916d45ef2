"""Queries over topics, to topics: killed, restarted, with exactly the right rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.connectors.kafka.broker import PARTITIONS, Broker
from tests.connectors.kafka.dying import POINTS, copied, killed
from tests.connectors.kafka.streams import bid, declared_at, engine_of
from tidemill.runtime.ticks import TickLog

SUMS = "SELECT item, SUM(price) AS total FROM bid WINDOW(RANGE 5) GROUP BY item"


def expected(rows: list[Any], sql: str) -> pa.Table:
    """The answer to a query about the same rows in a table."""
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", [pa.Table.from_pylist(rows)], time="at")
    return engine.sql(sql).collect()


def test_the_answer_is_that_about_the_same_rows(broker: Broker, topic: str) -> None:
    rows = [bid(n % 3, n, price=n) for n in range(40)]
    for n in range(PARTITIONS):
        broker.send_rows(topic, rows[n::PARTITIONS], partition=n)
    found = engine_of(broker, topic).sql(SUMS).collect()
    assert found.equals(expected(rows, SUMS))


@pytest.mark.slow
@pytest.mark.spark
def test_workers_of_spark_read_their_offsets(broker: Broker, topic: str, session: Any) -> None:
    rows = [bid(n % 3, n, price=n) for n in range(60)]
    for n in range(PARTITIONS):
        broker.send_rows(topic, rows[n::PARTITIONS], partition=n)
    engine = tm.Engine(spark=session, partitions=2)
    engine.sql(declared_at(broker.address, topic))
    query = engine.sql(SUMS)
    assert query.collect().equals(expected(rows, SUMS))
    out = broker.make(f"{topic}-out")
    run = query.start("kafka", available_now=True, servers=broker.address, topic=out)
    run.await_termination()
    found = sorted(tuple(row.values()) for row in broker.rows(out))
    assert found == sorted(tuple(row.values()) for row in expected(rows, SUMS).to_pylist())


def test_changes_out_add_up_to_the_answer(broker: Broker, topic: str) -> None:
    """From a topic to a topic, and from there, as a stream, to an answer about the changes."""
    broker.send_rows(topic, [bid(1, 1), bid(1, 3), bid(2, 4)])
    out = broker.make(f"{topic}-out")
    options = {"servers": broker.address, "topic": out, "key": "item"}
    run = (
        engine_of(broker, topic)
        .sql(SUMS)
        .start("kafka", form="changes", available_now=True, **options)
    )
    run.await_termination()
    assert {message.key() for message in broker.messages(out)} == {b"1", b"2"}
    told = (
        engine_of(
            broker,
            out,
            "item BIGINT, total BIGINT, change STRING, changed_at BIGINT, at TIMESTAMP",
            "timestamp => 'at'",
        )
        .sql("SELECT item, total, changed_at, change FROM bid")
        .collect()
    )
    found = [tuple(row.values())[:4] for row in told.to_pylist()]
    assert sorted(found) == [
        (1, 1, 1, "+"), (1, 1, 3, "-"), (1, 1, 6, "+"), (1, 1, 8, "-"),
        (1, 2, 3, "+"), (1, 2, 6, "-"), (2, 1, 4, "+"), (2, 1, 9, "-"),
    ]  # fmt: skip


def prices(broker: Broker, topic: str) -> list[int]:
    return sorted(row["price"] for row in broker.rows(topic))


@pytest.mark.parametrize("lost", ["begin", "commit"])
def test_a_tick_is_done_again(
    broker: Broker, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """It reads the same offsets, although there are more messages, and writes no row twice."""
    out = broker.make(f"{topic}-out")
    broker.send_rows(topic, [bid(1, n, price=n) for n in range(4)])
    with monkeypatch.context() as patched:
        patched.setattr(TickLog, lost, _failing)
        with pytest.raises(Lost):
            copied(tm.Engine(runtime="inprocess"), broker.address, topic, out, tmp_path, 1)
    # What comes late is not part of the tick that is done again.
    broker.send_rows(topic, [bid(1, n, price=n) for n in range(4, 8)], partition=1)
    copied(tm.Engine(runtime="inprocess"), broker.address, topic, out, tmp_path, 3)
    assert prices(broker, out) == list(range(8))


class Lost(BaseException):
    """What nobody handles, as if the process were gone."""


def _failing(log: TickLog, record: Any) -> None:
    raise Lost


KILLS = [
    pytest.param("inprocess", list(POINTS), id="inprocess"),
    pytest.param("spark", ["written"], id="spark", marks=pytest.mark.spark),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fabric", "points"), KILLS)
def test_killed_at_every_point(
    broker: Broker, topic: str, tmp_path: Path, fabric: str, points: list[str]
) -> None:
    """Process after process dies, each at another point; all rows are there, and each once."""
    out = broker.make(f"{topic}-out")
    at = 0
    for point in points:
        rows = [bid(1, n, price=n) for n in range(at, at + 5)]
        broker.send_rows(topic, rows, partition=at % PARTITIONS)
        killed(point, fabric, broker.address, topic, out, tmp_path / "state")
        at += 5
    broker.send_rows(topic, [bid(1, at, price=at)])
    copied(tm.Engine(runtime="inprocess"), broker.address, topic, out, tmp_path / "state", 5)
    assert prices(broker, out) == list(range(at + 1))


def test_passwords_are_not_told(broker: Broker, topic: str) -> None:
    secret = "s3cret"
    engine = engine_of(
        broker, topic, options=f"sasl.password => '{secret}', `ssl.key.password` => '{secret}'"
    )
    query = engine.sql(SUMS).into("kafka", topic="x", **{"sasl.password": secret})
    told = [query.explain(form) for form in ("logical", "physical")]
    told += [repr(query), repr(query.sink), str(engine.sql("SHOW CREATE TABLE bid"))]
    assert not [text for text in told if secret in text]
