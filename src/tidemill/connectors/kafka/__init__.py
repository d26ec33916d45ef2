"""Kafka: topics as streams, and topics that results are added to."""

from tidemill.connectors.kafka.feed import KafkaFeed, kafka_feed
from tidemill.connectors.kafka.reading import read_topic
from tidemill.connectors.kafka.writing import TopicWriter

__all__ = ["KafkaFeed", "TopicWriter", "kafka_feed", "read_topic"]
