"""Kafka: topics as streams, and topics that results are added to."""

from tidemill.connectors.kafka.feed import KafkaFeed, kafka_feed
from tidemill.connectors.kafka.reading import read_topic

__all__ = ["KafkaFeed", "kafka_feed", "read_topic"]
