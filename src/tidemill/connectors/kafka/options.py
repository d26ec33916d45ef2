"""What sources and sinks are told: brokers, a topic, and what messages are like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.values import time_of
from tidemill.connectors.kafka.avro import AvroValues
from tidemill.connectors.kafka.cluster import CLUSTER_OPTIONS, SECURITY, Cluster
from tidemill.errors import ExecutionError, nearest
from tidemill.sql import OptionValue

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_TEXTS = (pa.string(), pa.binary())

META = {
    "key": _TEXTS,
    "value": _TEXTS,
    "timestamp": (pa.timestamp("us"),),
    "partition": (pa.int64(), pa.int32()),
    "offset": (pa.int64(),),
    "headers": (_HEADERS,),
}
"""What a message has besides the fields of its value, and the types that its columns may have."""

_SOURCE = (
    *("format", "schema", "schema_id", "start", "tombstones", "maxOffsetsPerTrigger"),
    *META,
)
_OF_OTHERS = {"kafka.bootstrap.servers": "servers", "subscribe": "topic", "topics": "topic"}
_START = "start => 'earliest', 'latest', or a time in UTC such as '2024-03-01 12:00:00'"

MOST_OFFSETS = 1_000_000


def checked(
    options: Mapping[str, OptionValue], own: tuple[str, ...], whose: str
) -> dict[str, OptionValue]:
    """The options under their usual names; those that mean nothing are refused."""
    known = {name.casefold(): name for name in ("topic", *CLUSTER_OPTIONS, *own)}
    given: dict[str, OptionValue] = {}
    for name, value in options.items():
        if name.casefold() not in known:
            near = _OF_OTHERS.get(name.casefold()) or nearest(name, known.values())
            guess = f"did you mean `{near}`? " if near else ""
            help = f"{guess}options: {', '.join(known.values())}"
            raise ExecutionError(f"{whose} has no option `{name}`", help=help)
        given[known[name.casefold()]] = value
    for name in ("servers", "topic"):
        if not given.get(name):
            help = "as in kafka(servers => 'host:9092', topic => 'bid')"
            raise ExecutionError(f"{whose} needs the option {name}", help=help)
    return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class TopicOptions:
    """A topic as the source of a stream: which column has what of its messages."""

    cluster: Cluster
    topic: str
    columns: Mapping[str, str]
    """The columns that have something else than a field of the value, and what."""
    avro: AvroValues | None = None
    tombstones: str = "error"
    start: int | str = "earliest"
    """A time is in milliseconds since 1970."""
    most: int = MOST_OFFSETS

    @staticmethod
    def of(options: Mapping[str, OptionValue], declared: Schema, whose: str) -> TopicOptions:
        """What options say of a stream with the declared columns."""
        given = checked(options, _SOURCE, whose)
        tombstones = _choice(given, "tombstones", ("error", "skip", "null"), whose)
        return TopicOptions(
            Cluster.of(given),
            str(given["topic"]),
            _columns(given, declared, whose),
            _avro(given, whose),
            tombstones,
            _start(given.get("start", "earliest"), whose),
            _count(given.get("maxOffsetsPerTrigger", MOST_OFFSETS), whose),
        )


def _choice(given: Mapping[str, OptionValue], name: str, among: tuple[str, ...], whose: str) -> str:
    value = str(given.get(name, among[0])).casefold()
    if value not in among:
        help = f"{name} => {', '.join(map(repr, among))}"
        raise ExecutionError(f"{whose} has the unknown {name} {value!r}", help=help)
    return value


def _columns(given: Mapping[str, OptionValue], declared: Schema, whose: str) -> dict[str, str]:
    found = {}
    for what, kinds in META.items():
        if what not in given:
            continue
        name = str(given[what])
        if name not in declared.names:
            help = f"declared are {', '.join(declared.names)}"
            message = f"{whose} has no column `{name}`, which the option {what} names"
            raise ExecutionError(message, help=help)
        if declared[name] not in kinds:
            help = f"declare it as {' or '.join(map(name_of, kinds))}"
            is_now = name_of(declared[name])
            raise ExecutionError(f"column `{name}` is {is_now}: no {what} of a message", help=help)
        found[name] = what
    return found


def _avro(given: Mapping[str, OptionValue], whose: str) -> AvroValues | None:
    if _choice(given, "format", ("json", "avro"), whose) == "avro":
        return AvroValues.of(given.get("schema"), given.get("schema_id"), whose)
    for name in ("schema", "schema_id"):
        if name in given:
            help = "format => 'avro' has a schema; JSON has the declared columns"
            raise ExecutionError(f"{whose} has the option {name}, but reads JSON", help=help)
    return None


def _start(value: OptionValue, whose: str) -> int | str:
    text = str(value)
    if text.casefold() in ("earliest", "latest"):
        return text.casefold()
    try:
        return round(time_of(text, "start").replace(tzinfo=UTC).timestamp() * 1000)
    except Unreadable:
        raise ExecutionError(f"{whose} cannot start at {text!r}", help=_START) from None


def _count(value: OptionValue, whose: str) -> int:
    if not str(value).isdecimal() or int(str(value)) < 1:
        help = "maxOffsetsPerTrigger => 100000"
        raise ExecutionError(f"{whose} cannot take {value!r} messages per tick", help=help)
    return int(str(value))


__all__ = ["MOST_OFFSETS", "SECURITY", "TopicOptions", "checked"]
