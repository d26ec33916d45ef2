"""Messages for a topic: those of a tick in one transaction, each tick once.

With the messages of a tick, the same transaction writes the number of the tick to another topic. A
tick that is done again after a crash finds its number there, and is not written again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from tidemill.connectors.kafka.cluster import Cluster
from tidemill.connectors.kafka.lookups import Lookups
from tidemill.connectors.kafka.marks import MARKS, Marks
from tidemill.connectors.kafka.options import checked
from tidemill.errors import ExecutionError

_ONE_TRY = 5.0
_LONGEST = 300_000
"""Milliseconds of a transaction; what was begun by a process that died is undone after that."""

Message = tuple[bytes | None, bytes]
"""A key and a value."""


class TopicWriter:
    """Writes ticks of a query, which `identity` names, to a topic."""

    def __init__(self, options: Mapping[str, Any], identity: str, columns: Sequence[str]) -> None:
        given = checked(options, ("key",), "the sink kafka")
        self._cluster = cluster = Cluster.of(given)
        self._topic = str(given["topic"])
        self.key = _key(given.get("key"), columns)
        self._name = f"tidemill/{identity}"
        lookups = Lookups(cluster, self._topic)
        if not lookups.partitions():
            raise lookups.missing()
        self._producer: Producer | None = None
        self._done = -1
        self._opened()

    def write(self, messages: Sequence[Message], tick: int) -> None:
        """Write the messages of a tick, unless they are written.

        Brokers forget a producer that has written nothing for days: another one may succeed.
        """
        try:
            self._write(messages, tick)
        except KafkaException as error:
            if error.args[0].code() in _FINAL:
                raise self._told(error.args[0]) from None
            try:
                self._write(messages, tick)
            except KafkaException as again:
                raise self._told(again.args[0]) from None

    def _write(self, messages: Sequence[Message], tick: int) -> None:
        producer = self._opened()
        if tick <= self._done:
            return
        self._producer = None  # if it fails, what it has done is found out by another one
        try:
            producer.begin_transaction()
            for key, value in messages:
                _produce(producer, self._topic, key, value)
            _produce(producer, MARKS, self._name.encode(), str(tick).encode())
            self._commit(producer)
        except KafkaException:
            # Undone, so that others need not wait for it.
            with suppress(KafkaException):
                producer.abort_transaction(_ONE_TRY)
            raise
        self._producer, self._done = producer, tick

    def _opened(self) -> Producer:
        """A producer; after a failure another one, which undoes what the one before began."""
        if self._producer is None:
            marks = Marks(self._cluster, self._name)
            producer = self._cluster.made(
                Producer,
                {
                    "transactional.id": self._name,
                    "transaction.timeout.ms": _LONGEST,
                    "message.timeout.ms": int(min(self._cluster.patience * 1000, _LONGEST)),
                    "compression.type": "lz4",
                    "partitioner": "murmur2_random",  # as clients in Java have it
                },
            )
            self._cluster.attempt(producer.init_transactions)
            # Nobody else of this name can write from now on: what was written is known for good.
            self._done = marks.newest()
            self._producer = producer
        return self._producer

    def _commit(self, producer: Producer) -> None:
        """Commit; what is not known to have failed is tried again."""
        deadline = time.monotonic() + self._cluster.patience
        while True:
            try:
                return producer.commit_transaction(_ONE_TRY)
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise

    def _told(self, error: KafkaError) -> ExecutionError:
        if error.code() in _FENCED:
            return ExecutionError(
                f"another process with the same checkpoint writes to `{self._topic}`",
                help="only one may run: stop the other one, and start this one again",
            )
        return ExecutionError(
            f"cannot write to `{self._topic}` of Kafka at {self._cluster}: "
            f"{self._cluster.shown(error)}",
            help="start the query again: with its checkpoint it resumes with this tick, which is "
            "written once",
        )


def _produce(producer: Producer, topic: str, key: bytes | None, value: bytes) -> None:
    while True:
        try:
            producer.produce(topic, value, key)
            producer.poll(0)
            return
        except BufferError:  # as much is on its way as may be
            producer.poll(1)


_FENCED = (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED)
_FINAL = (*_FENCED, KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.TOPIC_AUTHORIZATION_FAILED)


def _key(name: object, columns: Sequence[str]) -> str | None:
    if name is None or name in columns:
        return None if name is None else str(name)
    help = f"columns of the result: {', '.join(columns)}"
    raise ExecutionError(f"the result has no column `{name}` to be the key of messages", help=help)
