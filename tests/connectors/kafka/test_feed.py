"""A topic as slices: what each look finds, what a restart finds again, and what is an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.connectors.kafka.broker import Broker
from tests.connectors.kafka.streams import bid
from tidemill.algebra.schema import Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds import TopicSlice, read_slice, split
from tidemill.connectors.kafka import KafkaFeed, kafka_feed
from tidemill.connectors.kafka import feed as module
from tidemill.connectors.kafka.lookups import Lookups
from tidemill.errors import ExecutionError
from tidemill.store import Store

COLUMNS = Schema.of(item=pa.int64(), at=pa.int64())


def feed_of(
    broker: Broker, topic: str, store: Path | None = None, bounded: bool = False, **options: Any
) -> KafkaFeed:
    given = {"servers": broker.address, "topic": topic, **options}
    info = SourceInfo("bid", COLUMNS, declared=COLUMNS, format="kafka", options=given)
    return kafka_feed(info, None if store is None else Store(str(store)), bounded)


def offsets(feed: KafkaFeed, start: int = 0) -> list[list[tuple[int, ...]]]:
    """The offsets of all slices."""
    slices = feed.slices(start, feed.poll())
    return [[tuple(range) for range in each.ranges] for each in slices]  # type: ignore[union-attr]


def items(feed: KafkaFeed, start: int = 0) -> list[int]:
    """The items of all slices."""
    read = [read_slice(s, COLUMNS, ["item"], "bid") for s in feed.slices(start, feed.poll())]
    return [item for table in read for item in table.column("item").to_pylist()]


def test_every_look_is_a_slice(broker: Broker, topic: str) -> None:
    feed = feed_of(broker, topic)
    assert feed.poll() == 0
    broker.send_rows(topic, [bid(1, 1), bid(2, 2)])
    broker.send_rows(topic, [bid(3, 3)], partition=2)
    assert feed.poll() == feed.poll() == 1
    broker.send_rows(topic, [bid(4, 4)])
    assert offsets(feed) == [[(0, 0, 2), (2, 0, 1)], [(0, 2, 3)]]
    assert items(feed) == [1, 2, 3, 4]


def test_a_restart_finds_the_same_slices(broker: Broker, topic: str, tmp_path: Path) -> None:
    broker.send_rows(topic, [bid(1, 1), bid(2, 2)])
    assert offsets(feed_of(broker, topic, tmp_path)) == [[(0, 0, 2)]]
    broker.send_rows(topic, [bid(3, 3)], partition=1)
    feed = feed_of(broker, topic, tmp_path)
    assert offsets(feed) == [[(0, 0, 2)], [(1, 0, 1)]]
    feed.forget(1)
    again = feed_of(broker, topic, tmp_path)
    assert (feed.first, again.first, again.poll()) == (1, 1, 2)
    assert items(again, 1) == items(feed, 1) == [3]
    again.forget(2)
    broker.send_rows(topic, [bid(4, 4)], partition=1)
    assert items(feed_of(broker, topic, tmp_path), 2) == [4]


def test_a_bounded_feed_has_what_the_first_look_finds(
    broker: Broker, topic: str, tmp_path: Path
) -> None:
    broker.send_rows(topic, [bid(1, 1)])
    feed = feed_of(broker, topic, tmp_path, bounded=True)
    assert (feed.poll(), feed.ended_at) == (1, 1)
    broker.send_rows(topic, [bid(2, 2)])
    assert (feed.poll(), feed_of(broker, topic, tmp_path, bounded=True).poll()) == (1, 1)


def test_from_now_on(broker: Broker, topic: str, tmp_path: Path) -> None:
    """Where it starts is written down, whether or not there is a message."""
    broker.send_rows(topic, [bid(1, 1)])
    assert feed_of(broker, topic, tmp_path, start="latest").poll() == 0
    broker.send_rows(topic, [bid(2, 2)])
    assert items(feed_of(broker, topic, tmp_path, start="latest")) == [2]


def test_from_a_time_on(broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This broker knows no times: what it would answer is given."""
    broker.send_rows(topic, [bid(1, 1), bid(2, 2)])
    broker.send_rows(topic, [bid(3, 3)], partition=1)
    asked = []

    def since(lookups: Lookups, millis: int, partitions: list[int]) -> Mapping[int, int]:
        asked.append(millis)
        return {number: 1 if number == 0 else -1 for number in partitions}

    monkeypatch.setattr(Lookups, "since", since)
    assert items(feed_of(broker, topic, start="2024-03-01 12:00:00")) == [2]
    assert asked == [1709294400000]


def test_ticks_take_as_many_messages_as_they_may(broker: Broker, topic: str) -> None:
    """And of all partitions the same share, so that none is late because of another."""
    broker.send_rows(topic, [bid(n, n) for n in range(6)])
    broker.send_rows(topic, [bid(n, n) for n in range(3)], partition=1)
    feed = feed_of(broker, topic, maxOffsetsPerTrigger=4)
    assert offsets(feed) == [
        [(0, 0, 2), (1, 0, 1)],
        [(0, 2, 4), (1, 1, 2)],
        [(0, 4, 6), (1, 2, 3)],
    ]
    assert [feed.stop_for(start) for start in range(4)] == [1, 2, 3, 3]
    assert feed_of(broker, topic, maxOffsetsPerTrigger=9).poll() == 1


def test_tasks_share_a_slice(broker: Broker, topic: str) -> None:
    broker.send_rows(topic, [bid(n, n) for n in range(7)])
    broker.send_rows(topic, [bid(n, n) for n in range(7, 10)], partition=1)
    (slice,) = (feed := feed_of(broker, topic)).slices(0, feed.poll())
    tasks = split([slice], 3)
    assert all(tasks)
    pieces = [piece for task in tasks for piece in task]
    assert all(isinstance(piece, TopicSlice) for piece in pieces)
    tables = [read_slice(piece, COLUMNS, ["item"], "bid") for piece in pieces]
    assert sorted(pa.concat_tables(tables).column("item").to_pylist()) == list(range(10))


def test_new_partitions_are_read_from_their_begin(
    broker: Broker, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This broker makes no partitions later: at first, only one of them is seen."""
    monkeypatch.setattr(module, "_ASK_EVERY", 0)
    broker.send_rows(topic, [bid(1, 1)])
    broker.send_rows(topic, [bid(2, 2)], partition=3)
    with monkeypatch.context() as patched:
        patched.setattr(Lookups, "partitions", lambda lookups: [0])
        feed = feed_of(broker, topic, tmp_path, start="latest")
        assert feed.poll() == 0
    assert offsets(feed) == [[(3, 0, 1)]]
    assert items(feed_of(broker, topic, tmp_path, start="latest")) == [2]


def test_messages_that_are_gone(broker: Broker, topic: str) -> None:
    """A broker keeps messages for some time only; this one keeps five megabytes."""
    broker.send_rows(topic, [bid(1, 1)], partition=2)
    feed = feed_of(broker, topic)
    assert feed.poll() == 1
    broker.send(topic, *[b"x" * 900_000] * 7, partition=2)
    with pytest.raises(ExecutionError) as failed:
        items(feed)
    assert failed.value.message == (
        f"the offsets 0 to 0 of partition 2 of `{topic}` are gone: the broker keeps messages for "
        "less time than they were waiting"
    )
    assert "with start => 'earliest' it begins with what is there" in str(failed.value.help)


def test_a_topic_that_was_made_anew(
    broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ASK_EVERY", 0)
    broker.send_rows(topic, [bid(1, 1)])
    feed = feed_of(broker, topic)
    feed.poll()
    with monkeypatch.context() as patched:
        patched.setattr(Lookups, "ends", lambda lookups, partitions: dict.fromkeys(partitions, 0))
        with pytest.raises(ExecutionError, match="is not the topic that `bid` has read up to"):
            feed.poll()
    monkeypatch.setattr(Lookups, "partitions", lambda lookups: [0, 1])
    with pytest.raises(ExecutionError, match="there is no partition 2 any more"):
        feed.poll()


def test_another_topic_in_the_same_checkpoint(broker: Broker, topic: str, tmp_path: Path) -> None:
    feed_of(broker, topic, tmp_path).poll()
    other = broker.make(f"{topic}-other")
    with pytest.raises(ExecutionError, match="its checkpoint has offsets of"):
        feed_of(broker, other, tmp_path)


def test_a_topic_that_is_not_there(broker: Broker) -> None:
    with pytest.raises(ExecutionError, match="has no topic `nowhere`"):
        feed_of(broker, "nowhere").poll()


def test_brokers_that_are_away() -> None:
    nobody = Broker()
    address = nobody.address
    del nobody
    options = {"servers": address, "topic": "bid", "retry": "0.2 seconds"}
    info = SourceInfo("bid", COLUMNS, declared=COLUMNS, format="kafka", options=options)
    with pytest.raises(ExecutionError, match=f"Kafka at {address} cannot be used: .*transport"):
        kafka_feed(info).poll()


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"servers": None}, "the source of `bid` needs the option servers"),
    ({"topic": ""}, "the source of `bid` needs the option topic"),
    ({"tropic": "x"}, "the source of `bid` has no option `tropic`"),
    ({"kafka.bootstrap.servers": "x"}, "has no option `kafka.bootstrap.servers`"),
    ({"start": "soon"}, "the source of `bid` cannot start at 'soon'"),
    ({"format": "xml"}, "the source of `bid` has the unknown format 'xml'"),
    ({"format": "avro"}, "the source of `bid` needs the option schema, for Avro"),
    ({"schema": "{}"}, "the source of `bid` has the option schema, but reads JSON"),
    ({"tombstones": "no"}, "the source of `bid` has the unknown tombstones 'no'"),
    ({"key": "who"}, "the source of `bid` has no column `who`, which the option key names"),
    ({"key": "item"}, "column `item` is BIGINT: no key of a message"),
    ({"maxOffsetsPerTrigger": 0}, "the source of `bid` cannot take 0 messages per tick"),
    ({"retry": "soon"}, "'soon' is not a duration"),
    (
        {"security.protocol": "sasl_ssl", "sasl.mechanism": "s3cret", "sasl.password": "s3cret"},
        "Kafka at ",
    ),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_options(broker: Broker, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExecutionError) as refused:
        feed_of(broker, **{"topic": "bid", **options})
    assert message in refused.value.message
    assert "s3cret" not in str(refused.value)
