"""Streams that are topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tidemill as tm
from tests.connectors.kafka.broker import Broker

BIDS = "item BIGINT, price BIGINT, at BIGINT"


def declared_at(
    address: str, topic: str, columns: str = BIDS, options: str = "", clauses: str = ""
) -> str:
    """The statement that makes the stream `bid` of a topic."""
    given = f"servers => '{address}', topic => '{topic}'{options and ', '}{options}"
    return f"CREATE STREAM bid ({columns}) SOURCE kafka({given}) ORDERED BY at {clauses}"


def engine_of(
    broker: Broker, topic: str, columns: str = BIDS, options: str = "", clauses: str = ""
) -> tm.Engine:
    """An engine in this process with that stream."""
    engine = tm.Engine(runtime="inprocess")
    engine.sql(declared_at(broker.address, topic, columns, options, clauses))
    return engine


def bid(item: int, at: int, price: int = 1) -> Mapping[str, Any]:
    return {"item": item, "price": price, "at": at}
