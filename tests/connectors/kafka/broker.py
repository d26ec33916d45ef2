"""A broker that speaks Kafka's protocol: the one of librdkafka, which lives in a client."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

PARTITIONS = 4
"""Every topic has so many."""

_QUIET = {"log_level": 0}


class Broker:
    """It shows messages of transactions that were undone, too, and fences nobody."""

    def __init__(self) -> None:
        self._cluster = Producer({"test.mock.num.brokers": 1, **_QUIET})
        (found,) = self._cluster.list_topics(timeout=10).brokers.values()
        self.address = f"{found.host}:{found.port}"
        self._producer = Producer({"bootstrap.servers": self.address, "linger.ms": 0, **_QUIET})
        self.make("tidemill_sink")

    def make(self, topic: str) -> str:
        """A topic without messages."""
        self._producer.list_topics(topic, timeout=10)
        return topic

    def send(self, topic: str, *values: bytes | None, partition: int = 0, **more: Any) -> None:
        """Add messages to a partition."""
        for value in values:
            self._producer.produce(topic, value, partition=partition, **more)
        assert self._producer.flush(10) == 0

    def send_rows(self, topic: str, rows: Sequence[Mapping[str, Any]], partition: int = 0) -> None:
        """Add objects of JSON to a partition."""
        self.send(topic, *(json.dumps(row).encode() for row in rows), partition=partition)

    def messages(self, topic: str) -> list[Message]:
        """All messages, by partition."""
        settings = {"group.id": "tests", "enable.partition.eof": True, "fetch.wait.max.ms": 10}
        consumer = Consumer({"bootstrap.servers": self.address, **settings, **_QUIET})
        consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
        found, ended = list[Message](), 0
        while ended < PARTITIONS:
            for message in consumer.consume(1000, 0.05):
                ended += message.error() is not None
                found += [message] if message.error() is None else []
        consumer.close()
        return sorted(found, key=lambda each: (each.partition(), each.offset()))

    def rows(self, topic: str) -> list[dict[str, Any]]:
        """The objects of all messages."""
        return [json.loads(message.value() or b"null") for message in self.messages(topic)]
