"""A broker for the tests of Kafka, and an empty topic for each of them."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.connectors.kafka.broker import Broker


@pytest.fixture(scope="session")
def broker() -> Broker:
    """A broker in this process, which others can reach too."""
    return Broker()


@pytest.fixture
def topic(broker: Broker) -> str:
    return broker.make(f"bid-{uuid4().hex}")
