"""Messages between two offsets, read where a task runs. Nothing is committed to the brokers."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from tidemill.connectors.feeds.slices import OffsetRange
from tidemill.connectors.kafka.cluster import Cluster, is_hopeless
from tidemill.errors import ExecutionError

_AT_ONCE = 10_000
_WAIT = 0.1
_MOST_IDLE = 4

_idle: defaultdict[tuple[int, Cluster, str], list[Consumer]] = defaultdict(list)
"""Consumers that nobody uses, by process and topic: to connect anew takes longer than to read."""


def read_ranges(cluster: Cluster, topic: str, ranges: Sequence[OffsetRange]) -> list[Message]:
    """All messages of ranges that transactions have committed, in the order of the ranges."""
    with _borrowed(cluster, topic) as consumer:
        return _Reading(cluster, topic, ranges).read(consumer)


class _Reading:
    """Ranges that are being read, at most one of a partition at a time."""

    def __init__(self, cluster: Cluster, topic: str, ranges: Sequence[OffsetRange]) -> None:
        self._cluster = cluster
        self._topic = topic
        self._left = {each.partition: each for each in ranges if each.start < each.end}
        self._found: dict[int, list[Message]] = {each.partition: [] for each in ranges}

    def read(self, consumer: Consumer) -> list[Message]:
        """All messages."""
        consumer.assign(
            [TopicPartition(self._topic, n, each.start) for n, each in self._left.items()]
        )
        until, why = self._patience, "no messages come"
        while self._left:
            some = consumer.consume(min(self._missing, _AT_ONCE), _WAIT)
            for message in some:
                if (error := message.error()) is None:
                    self._take(message, consumer)
                    until = self._patience
                elif error.code() == KafkaError._PARTITION_EOF:
                    self._ended(message, consumer)
                else:
                    why = self._failed(message, error)
            if time.monotonic() > until:
                raise self._cluster.away(why)
        return [message for messages in self._found.values() for message in messages]

    @property
    def _patience(self) -> float:
        return time.monotonic() + self._cluster.patience

    @property
    def _missing(self) -> int:
        return sum(each.end - each.start for each in self._left.values())

    def _take(self, message: Message, consumer: Consumer) -> None:
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        if (range := self._left.get(partition)) is None:
            return
        if offset < range.end:
            self._found[partition].append(message)
        self._go_to(offset + 1, range, consumer)

    def _ended(self, message: Message, consumer: Consumer) -> None:
        """The end of a partition: behind the last message, there may be ends of transactions."""
        range, offset = self._left.get(message.partition() or 0), message.offset()
        if range is not None and offset is not None and offset >= range.end:
            self._go_to(offset, range, consumer)

    def _go_to(self, offset: int, range: OffsetRange, consumer: Consumer) -> None:
        if offset < range.end:
            self._left[range.partition] = range._replace(start=offset)
            return
        del self._left[range.partition]
        consumer.incremental_unassign([TopicPartition(self._topic, range.partition)])

    def _failed(self, message: Message, error: KafkaError) -> str:
        """Why nothing comes, if it is worth waiting."""
        range = self._left.get(-1 if message.partition() is None else message.partition() or 0)
        if error.code() == KafkaError._AUTO_OFFSET_RESET and range is not None:
            raise ExecutionError(
                f"the offsets {range.start} to {range.end - 1} of partition {range.partition} of "
                f"`{self._topic}` are gone: the broker keeps messages for less time than they "
                "were waiting",
                help="let the topic keep messages for longer, and start the query again with "
                "another checkpoint: with start => 'earliest' it begins with what is there",
            )
        if is_hopeless(error):
            raise self._cluster.away(error)
        return str(error.str())


@contextmanager
def _borrowed(cluster: Cluster, topic: str) -> Iterator[Consumer]:
    mine = _idle[os.getpid(), cluster, topic]
    consumer = mine.pop() if mine else _made(cluster, topic)
    try:
        yield consumer
        consumer.unassign()
    except BaseException:
        consumer.close()
        raise
    if len(mine) < _MOST_IDLE:
        mine.append(consumer)
    else:
        consumer.close()


def _made(cluster: Cluster, topic: str) -> Consumer:
    consumer = cluster.made(Consumer, _SETTINGS)
    # Who does not know where partitions are asks only after a second.
    cluster.attempt(lambda most: consumer.list_topics(topic, timeout=most))
    return consumer


_SETTINGS = {
    "group.id": "tidemill",  # librdkafka wants one; nothing is ever committed for it
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "allow.auto.create.topics": False,
    "fetch.wait.max.ms": 20,
    "fetch.queue.backoff.ms": 10,
}
