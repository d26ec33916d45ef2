"""What the driver asks brokers: which partitions a topic has, and how far they go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tidemill.connectors.kafka.cluster import Cluster, Errors
from tidemill.errors import ExecutionError

T = TypeVar("T")

_SPEC: Any = OffsetSpec  # its methods have no types

_NO_TOPIC = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)

Offsets = dict[int, int]
"""By partition."""


class Lookups:
    """Looks into one topic."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        self._heard = Errors()
        # Who only asks must not make a topic by it.
        asking = {"error_cb": self._heard, "allow.auto.create.topics": False}
        self._admin = cluster.made(AdminClient, asking)

    def partitions(self) -> list[int]:
        """The numbers of the partitions that there are now; none if there is no such topic."""

        def ask(most: float) -> list[int]:
            found = self._admin.list_topics(self._topic, timeout=most).topics[self._topic]
            if found.error is not None and found.error.code() not in _NO_TOPIC:
                raise KafkaException(found.error)
            return sorted(found.partitions)

        return self._ask(ask)

    def ends(self, partitions: list[int], committed: bool = True) -> Offsets:
        """The offsets after the last messages; those of open transactions count only if asked."""
        return self._offsets(_SPEC.latest(), partitions, committed)

    def begins(self, partitions: list[int]) -> Offsets:
        """The offsets of the first messages that are still there."""
        return self._offsets(_SPEC.earliest(), partitions)

    def since(self, millis: int, partitions: list[int]) -> Offsets:
        """The offsets of the first messages of a time or later; -1 if there are none yet."""
        return self._offsets(_SPEC.for_timestamp(millis), partitions)

    def _offsets(self, spec: Any, partitions: list[int], committed: bool = True) -> Offsets:
        wanted = {TopicPartition(self._topic, number): spec for number in partitions}
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED

        def ask(most: float) -> Offsets:
            asked = self._admin.list_offsets(wanted, isolation_level=level, request_timeout=most)
            return {each.partition: answer.result().offset for each, answer in asked.items()}

        return self._ask(ask) if wanted else {}

    def _ask(self, work: Callable[[float], T]) -> T:
        def attempted(most: float) -> T:
            try:
                return work(most)
            except KafkaException:
                self._admin.poll(0)  # why, is told here
                raise

        return self._cluster.attempt(attempted, self._heard)

    def missing(self) -> ExecutionError:
        """The complaint that there is no such topic."""
        return ExecutionError(
            f"Kafka at {self._cluster} has no topic `{self._topic}`",
            help="check the option topic, or create it there",
        )
