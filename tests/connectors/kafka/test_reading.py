"""What messages say, as rows: in JSON, in Avro, and of the message itself."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import pytest

from tests.connectors.kafka.broker import Broker
from tests.connectors.kafka.streams import engine_of
from tidemill.errors import ExecutionError

COLUMNS = "item BIGINT, name STRING, at BIGINT"


def read(broker: Broker, topic: str, columns: str, options: str = "") -> list[tuple[Any, ...]]:
    """All rows, as values in the order of the columns."""
    found = engine_of(broker, topic, columns, options).sql("SELECT * FROM bid").collect()
    rows = found.drop_columns(["valid_from", "valid_to"]).to_pylist()
    return [tuple(row.values()) for row in rows]


def failing(broker: Broker, topic: str, columns: str, options: str = "") -> str:
    """The message of the error."""
    with pytest.raises(ExecutionError) as failed:
        read(broker, topic, columns, options)
    return failed.value.message


def test_fields_are_columns(broker: Broker, topic: str) -> None:
    broker.send(topic, b'{"item": 1, "at": 3, "other": [1]}', b'{"at": 4, "name": "\xc3\xbc"}')
    broker.send(topic, b' {"at": 5,\n "item": 2}\r\n', partition=2)
    assert read(broker, topic, COLUMNS) == [(1, None), (None, "ü"), (2, None)]


def test_columns_of_every_type(broker: Broker, topic: str) -> None:
    value = {"at": "2024-03-01T10:00:00.5", "price": 1.25, "tags": ["a"], "who": {"id": 7}}
    broker.send(topic, json.dumps(value).encode())
    kinds = "price DECIMAL(5, 2), tags ARRAY<STRING>, who STRUCT<id BIGINT>, at TIMESTAMP"
    assert read(broker, topic, kinds) == [(Decimal("1.25"), ["a"], {"id": 7})]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b'{"item": "1", "at": 4}', "column `item`: '1' is no BIGINT"),
        (b'{"item": 1.5, "at": 4}', "column `item`: '1.5' is no BIGINT"),
        (b"[]", "it is no object"),
        (b'{"at": 4} {"at": 5}', "Extra data: line 1 column 11 (char 10)"),
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b'{"name": "\xff"}', "byte 11 is not UTF-8"),
        (None, "it has no value (a tombstone); tombstones => 'skip' leaves such messages out, and"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    broker: Broker, topic: str, value: bytes | None, message: str
) -> None:
    broker.send(topic, b'{"item": 1, "at": 3}', partition=3)
    broker.send(topic, value, b'{"item": 1, "at": 3}', partition=3)
    told = failing(broker, topic, COLUMNS)
    assert told.startswith(f"cannot read a message of `bid`: partition 3, offset 1: {message}")


def test_tombstones(broker: Broker, topic: str) -> None:
    broker.send(topic, b'{"item": 1, "at": 3}', None, timestamp=7, key=b"k")
    own = "item BIGINT, who STRING, at TIMESTAMP"
    options = "key => 'who', timestamp => 'at', tombstones => "
    assert read(broker, topic, own, f"{options} 'skip'") == [(1, "k")]
    assert read(broker, topic, own, f"{options} 'null'") == [(None, "k"), (1, "k")]


def test_what_is_known_of_messages(broker: Broker, topic: str) -> None:
    broker.send(topic, b"a", key="ü", headers=[("h", b"1"), ("h", None)], timestamp=1500)
    broker.send(topic, b"\xff", partition=1, timestamp=2500)
    columns = (
        "k STRING, v BINARY, p INT, o BIGINT, h ARRAY<STRUCT<key STRING, value BINARY>>, "
        "at TIMESTAMP"
    )
    options = (
        "key => 'k', value => 'v', partition => 'p', OFFSET => 'o', headers => 'h', "
        "timestamp => 'at'"
    )
    headers = [{"key": "h", "value": b"1"}, {"key": "h", "value": None}]
    assert read(broker, topic, columns, options) == [
        ("ü", b"a", 0, 0, headers),
        (None, b"\xff", 1, 0, []),
    ]
    found = engine_of(broker, topic, columns, options).sql("SELECT at FROM bid").collect()
    assert found.column("at").to_pylist() == [
        dt.datetime(1970, 1, 1, 0, 0, n, 500000) for n in (1, 2)
    ]


def test_texts_are_utf_8(broker: Broker, topic: str) -> None:
    broker.send(topic, b"{}", key=b"\xff")
    told = failing(broker, topic, "k STRING, at TIMESTAMP", "key => 'k', timestamp => 'at'")
    assert told.endswith("partition 0, offset 0: column `k`: byte 1 is not UTF-8")


AVRO = {
    "type": "record",
    "name": "bid",
    "fields": [
        {"name": "Item", "type": "int"},
        {"name": "price", "type": ["null", "double"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "kind", "type": {"type": "enum", "name": "kind", "symbols": ["A", "B"]}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "tags", "type": {"type": "map", "values": "long"}},
        {
            "name": "paid",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
        },
    ],
}
AVRO_COLUMNS = (
    "item BIGINT, price DOUBLE, kind STRING, id STRING, tags MAP<STRING, BIGINT>, "
    "paid DECIMAL(5, 2), at TIMESTAMP"
)
UUID = "8ee7372f-9152-44ca-97fa-082b020397ce"


def in_avro(prefix: bytes = b"", schema: Any = AVRO, **other: Any) -> bytes:
    at = dt.datetime(2024, 3, 1, tzinfo=dt.UTC)
    record = {"Item": 1, "price": None, "kind": "B", "tags": {"a": 1}, "paid": Decimal("1.25")}
    file = BytesIO(prefix)
    file.seek(0, 2)
    parsed = fastavro.parse_schema(schema)
    fastavro.schemaless_writer(file, parsed, {**record, "at": at, "id": UUID, **other})
    return file.getvalue()


def avro(more: str = "", schema: Any = AVRO) -> str:
    return f"format => 'avro', schema => '{json.dumps(schema)}'{more}"


def test_avro(broker: Broker, topic: str) -> None:
    broker.send(topic, in_avro(), in_avro(price=2.5))
    tags, rest = [("a", 1)], Decimal("1.25")
    assert read(broker, topic, AVRO_COLUMNS, avro()) == [
        (1, price, "B", UUID, tags, rest) for price in (None, 2.5)
    ]


def test_avro_of_a_registry(broker: Broker, topic: str) -> None:
    """Values begin with the number of the schema that they were written with."""
    seven, eight = b"\0\0\0\0\x07", b"\0\0\0\0\x08"
    broker.send(topic, in_avro(seven))
    options = avro(", schema_id => 7")
    assert len(read(broker, topic, AVRO_COLUMNS, options)) == 1
    broker.send(topic, in_avro(eight))
    told = failing(broker, topic, AVRO_COLUMNS, options)
    assert told.endswith("partition 0, offset 1: it does not begin with the schema_id 7")


@pytest.mark.parametrize(
    ("value", "columns", "message"),
    [
        (in_avro() + b"x", AVRO_COLUMNS, "offset 0: 1 bytes are left behind the Avro record"),
        (b"", AVRO_COLUMNS, "offset 0: it is no such Avro record: "),
        (in_avro(), "price FLOAT, at TIMESTAMP", "column `price` is DOUBLE, not FLOAT"),
        (in_avro(), "lot BIGINT, at TIMESTAMP", "column `lot` is missing; there are Item, price,"),
    ],
)
def test_what_is_wrong_in_avro(
    broker: Broker, topic: str, value: bytes, columns: str, message: str
) -> None:
    broker.send(topic, value)
    assert message in failing(broker, topic, columns, avro())


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("no JSON", "the Avro schema of the source of `bid`: Expecting value"),
        ('"long"', "the Avro schema of the source of `bid`: it is not that of a record"),
        ('{"type": "record", "fields": []}', "the Avro schema of the source of `bid`: "),
        (
            json.dumps({**AVRO, "fields": [{"name": "x", "type": ["int", "string"]}]}),
            "the Avro schema of the source of `bid`: a union of 2 types cannot be a column",
        ),
    ],
)
def test_schemas_that_are_none(broker: Broker, topic: str, schema: str, message: str) -> None:
    options = f"format => 'avro', schema => '{schema}'"
    assert failing(broker, topic, AVRO_COLUMNS, options).startswith(message)
