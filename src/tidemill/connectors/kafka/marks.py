"""Which tick each query has written, in a topic that all queries share."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tidemill.connectors.feeds.slices import OffsetRange
from tidemill.connectors.kafka.cluster import Cluster
from tidemill.connectors.kafka.lookups import Lookups
from tidemill.connectors.kafka.ranges import read_ranges
from tidemill.errors import ExecutionError

MARKS = "tidemill_sink"
"""Compacted: of every query, the last tick stays."""

_SETTINGS = {"cleanup.policy": "compact", "segment.ms": "3600000"}


class Marks:
    """The ticks of one query."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster = cluster
        self._name = name.encode()
        self._lookups = Lookups(cluster, MARKS)
        if not self._lookups.partitions():
            self._make()

    def newest(self) -> int:
        """The last tick that was written; -1 if there is none.

        Transactions of others may be open: what is behind them counts too, when they have ended.
        """
        partitions = self._lookups.partitions()
        begins = self._lookups.begins(partitions)
        ends = self._lookups.ends(partitions, committed=False)
        ranges = [OffsetRange(number, begins[number], ends[number]) for number in partitions]
        found = read_ranges(self._cluster, MARKS, ranges)
        mine = [message for message in found if message.key() == self._name]
        return max((int(message.value() or -1) for message in mine), default=-1)

    def _make(self) -> None:
        admin = self._cluster.made(AdminClient, {})
        topic = NewTopic(MARKS, num_partitions=1, replication_factor=-1, config=_SETTINGS)
        try:
            made = admin.create_topics([topic], request_timeout=self._cluster.patience)
            made[MARKS].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self._refused(error) from None

    def _refused(self, error: KafkaException) -> ExecutionError:
        return ExecutionError(
            f"Kafka at {self._cluster} does not let the topic `{MARKS}` be created, which keeps "
            f"what queries have written: {self._cluster.shown(error)}",
            help="create it there, with cleanup.policy=compact, and let the user write to it",
        )
