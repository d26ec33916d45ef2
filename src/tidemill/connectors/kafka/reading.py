"""From messages to rows: columns of the value, and those that tell of the message itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.json_objects import all_at_once, decoded, one_by_one
from tidemill.connectors.feeds.slices import TopicSlice
from tidemill.connectors.kafka.options import TopicOptions
from tidemill.connectors.kafka.ranges import read_ranges


def read_topic(slice: TopicSlice, declared: Schema, columns: Sequence[str], name: str) -> pa.Table:
    """The wanted columns of the messages of a slice, in their declared types."""
    options = TopicOptions.of(dict(slice.options), declared, f"the source of `{name}`")
    messages = read_ranges(options.cluster, options.topic, slice.ranges)
    return rows_of(messages, options, declared.select(columns))


def rows_of(messages: Sequence[Message], options: TopicOptions, wanted: Schema) -> pa.Table:
    """A row for every message, but tombstones as the options say."""
    kept = _without_tombstones(messages, options.tombstones)
    fields = wanted.select([n for n in wanted.names if n not in options.columns])
    parts = {}
    if fields.names:
        values = _from_avro if options.avro is not None else _from_json
        table = values(kept, options, fields)
        parts = {each: table.column(each) for each in fields.names}
    for field in wanted:
        if field.name not in parts:
            parts[field.name] = _of_message(
                kept, options.columns[field.name], field.name, field.type
            )
    if not parts:
        return pa.table({"": pa.nulls(len(kept))}).select([])
    return pa.table([parts[each] for each in wanted.names], schema=wanted.to_arrow())


def place(message: Message) -> str:
    """Where a message is."""
    return f"partition {message.partition()}, offset {message.offset()}"


def _without_tombstones(messages: Sequence[Message], tombstones: str) -> Sequence[Message]:
    if tombstones == "null":
        return messages
    kept = [message for message in messages if message.value() is not None]
    if tombstones == "error" and len(kept) < len(messages):
        first = next(message for message in messages if message.value() is None)
        raise Unreadable(
            f"{place(first)}: it has no value (a tombstone); tombstones => 'skip' leaves such "
            "messages out, and 'null' makes rows of them"
        )
    return kept


def _from_json(messages: Sequence[Message], options: TopicOptions, wanted: Schema) -> pa.Table:
    values = [value for message in messages if (value := message.value()) is not None]
    if len(values) == len(messages):
        text = b"\n".join(values)
        # Lines within a value, or an empty one, would be counted as others.
        if text.count(b"\n") == len(values) - 1 and _is_text(text):
            found = all_at_once(text, wanted)
            if found is not None and found.num_rows == len(values):
                return found
    return one_by_one(_objects(messages), wanted)


def _objects(messages: Sequence[Message]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for message in messages:
        where, value = place(message), message.value()
        found = {} if value is None else decoded(_text(value, where), where)
        if not isinstance(found, dict):
            raise Unreadable(f"{where}: it is no object")
        yield where, found


def _from_avro(messages: Sequence[Message], options: TopicOptions, wanted: Schema) -> pa.Table:
    assert options.avro is not None
    return options.avro.table(((place(each), each.value()) for each in messages), wanted)


def _of_message(messages: Sequence[Message], what: str, name: str, kind: pa.DataType) -> pa.Array:
    if what in ("key", "value") and pa.types.is_string(kind):
        get = _BYTES[what]
        texts = [
            None if (value := get(m)) is None else _text(value, f"{place(m)}: column `{name}`")
            for m in messages
        ]
        return pa.array(texts, kind)
    return pa.array([_GET[what](message) for message in messages], kind)


def _text(value: bytes, where: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"{where}: byte {error.start + 1} is not UTF-8") from None


def _is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8; Arrow takes what is not."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _micros(message: Message) -> int | None:
    kind, millis = message.timestamp()
    return None if kind == TIMESTAMP_NOT_AVAILABLE else millis * 1000


def _headers(message: Message) -> list[dict[str, Any]]:
    pairs: Any = message.headers() or []
    return [{"key": key, "value": value} for key, value in pairs]


_BYTES: dict[str, Callable[[Message], Any]] = {"key": Message.key, "value": Message.value}

_GET: dict[str, Callable[[Message], Any]] = {
    **_BYTES,
    "timestamp": _micros,
    "partition": Message.partition,
    "offset": Message.offset,
    "headers": _headers,
}
