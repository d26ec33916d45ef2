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
_END = KafkaError._PARTITION_EOF

_idle: defaultdict[tuple[int, Cluster, str], list[Consumer]] = defaultdict(list)
"""Consumers that nobody uses, by process and topic: to connect anew takes longer than to read."""


def read_ranges(cluster: Cluster, topic: str, ranges: Sequence[OffsetRange]) -> list[Message]:
    """All messages of ranges that transactions have committed, in the order of the ranges."""
    with _borrowed(cluster, topic) as consumer:
        return _Reading(cluster, topic, ranges).read(consumer)


class _Reading:
    """Ranges that are being read, one of a partition at a time."""

    def __init__(self, cluster: Cluster, topic: str, ranges: Sequence[OffsetRange]) -> None:
        self._cluster = cluster
        self._topic = topic
        self._next = {each.partition: each.start for each in ranges if each.start < each.end}
        self._ends = {each.partition: each.end for each in ranges}
        self._found: dict[int, list[Message]] = {each.partition: [] for each in ranges}

    def read(self, consumer: Consumer) -> list[Message]:
        """All messages."""
        consumer.assign([TopicPartition(self._topic, n, at) for n, at in self._next.items()])
        until, why = self._patience, "no messages come"
        while self._next:
            some = consumer.consume(min(self._missing, _AT_ONCE), _WAIT)
            errors = self._take(some, consumer)
            until = self._patience if len(errors) < len(some) else until
            for message in errors:
                why = self._failed(message) or why
            if time.monotonic() > until:
                raise self._cluster.away(why)
        return [message for messages in self._found.values() for message in messages]

    @property
    def _patience(self) -> float:
        return time.monotonic() + self._cluster.patience

    @property
    def _missing(self) -> int:
        return sum(self._ends[number] - at for number, at in self._next.items())

    def _take(self, some: Sequence[Message], consumer: Consumer) -> list[Message]:
        """Keep what belongs to the ranges; those that are no messages but errors."""
        errors = []
        for message in some:
            if (error := message.error()) is not None and error.code() != _END:
                errors.append(message)
                continue
            partition, offset = message.partition() or 0, message.offset() or 0
            if partition not in self._next:
                continue
            if error is None and offset < self._ends[partition]:
                self._found[partition].append(message)
            # Behind the last message there may be ends of transactions: then the end tells.
            self._next[partition] = offset + (error is None)
            if self._next[partition] >= self._ends[partition]:
                del self._next[partition]
                consumer.incremental_unassign([TopicPartition(self._topic, partition)])
        return errors

    def _failed(self, message: Message) -> str:
        """Why nothing comes, if it is worth waiting."""
        error, partition = message.error(), message.partition()
        assert error is not None
        if error.code() == KafkaError._AUTO_OFFSET_RESET and partition in self._next:
            raise self._gone(partition)
        if is_hopeless(error):
            raise self._cluster.away(error)
        return str(error.str())

    def _gone(self, partition: int) -> ExecutionError:
        return ExecutionError(
            f"the offsets {self._next[partition]} to {self._ends[partition] - 1} of partition "
            f"{partition} of `{self._topic}` are gone: the broker keeps messages for less time "
            "than they were waiting",
            help="let the topic keep messages for longer, and start the query again with another "
            "checkpoint: with start => 'earliest' it begins with what is there",
        )


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
