"""Results in a topic: each row once, whatever happens between."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from tests.connectors.kafka.broker import Broker
from tidemill.algebra.schema import Schema
from tidemill.connectors.kafka import TopicWriter
from tidemill.connectors.sinks import FORMS, SinkRequest, make_sink
from tidemill.errors import ExecutionError, UnsupportedError

COLUMNS = Schema.of(item=pa.string(), n=pa.int64())


def writer_of(broker: Broker, topic: str, query: str = "q", **options: Any) -> TopicWriter:
    return TopicWriter({"servers": broker.address, "topic": topic, **options}, query, ["item"])


def pairs(broker: Broker, topic: str) -> list[tuple[Any, Any]]:
    return sorted(((m.key(), m.value()) for m in broker.messages(topic)), key=str)


def test_a_tick_counts_once(broker: Broker, topic: str) -> None:
    writer = writer_of(broker, topic, topic)
    writer.write([(None, b"a"), (None, b"b")], 3)
    writer.write([(None, b"again")], 3)
    again = writer_of(broker, topic, topic)
    again.write([(None, b"older")], 2)
    again.write([(None, b"again")], 3)
    again.write([(b"k", b"c")], 4)
    assert pairs(broker, topic) == [(None, b"a"), (None, b"b"), (b"k", b"c")]


def test_queries_do_not_know_of_each_other(broker: Broker, topic: str) -> None:
    for query in ("one", "two"):
        writer_of(broker, topic, f"{topic}/{query}").write([(None, query.encode())], 0)
    assert [value for _, value in pairs(broker, topic)] == [b"one", b"two"]


def test_a_tick_that_failed_is_written_by_the_next_attempt(
    broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that is too large is refused before the transaction is committed; whatever else
    fails before that is tried again by another producer."""
    writer = writer_of(broker, topic, topic)
    with pytest.raises(ExecutionError, match=f"cannot write to `{topic}` of Kafka at .* too large"):
        writer.write([(None, b"x" * 2_000_000)], 0)
    writer.write([(None, b"a")], 0)
    real, failed = TopicWriter._commit, list[bool]()

    def failing(self: TopicWriter, producer: Producer) -> None:
        """The answer to the first commit is lost."""
        real(self, producer)
        if not failed:
            failed.append(True)
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    monkeypatch.setattr(TopicWriter, "_commit", failing)
    writer.write([(None, b"b")], 1)
    assert pairs(broker, topic) == [(None, b"a"), (None, b"b")]


def sink_of(broker: Broker, topic: str, form: str = "intervals", **options: Any) -> Any:
    schema = options.pop("schema", COLUMNS)
    given = {"servers": broker.address, "topic": topic, **options}
    request = SinkRequest("kafka", given, form)
    return make_sink(request, schema, None, lambda: topic, spark_formats=False)


def test_the_usual_form_is_intervals() -> None:
    assert SinkRequest("kafka").form == "intervals"
    assert "snapshot" in FORMS


def test_a_topic_holds_no_snapshot(broker: Broker, topic: str) -> None:
    with pytest.raises(UnsupportedError) as refused:
        sink_of(broker, topic, "snapshot")
    assert refused.value.message.startswith("a topic cannot hold a snapshot: ")
    assert str(refused.value.help).startswith("form => 'changes' tells what comes and goes")


def test_columns_that_json_does_not_have(broker: Broker, topic: str) -> None:
    with pytest.raises(UnsupportedError, match="the column d is INTERVAL, which JSON does not"):
        sink_of(broker, topic, schema=Schema.of(d=pa.duration("us")))


def test_options(broker: Broker, topic: str) -> None:
    for options, message in (
        ({"key": "who"}, "the result has no column `who` to be the key of messages"),
        ({"path": "x"}, "the sink kafka has no option `path`"),
        ({"topic": "nowhere"}, "has no topic `nowhere`"),
        ({"topic": ""}, "the sink kafka needs the option topic"),
        ({"security.protocol": "tls"}, "Kafka at .*: Invalid value"),
    ):
        with pytest.raises(ExecutionError, match=message):
            sink_of(broker, **{"topic": topic, **options})
