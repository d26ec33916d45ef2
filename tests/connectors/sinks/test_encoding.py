"""Files read back by Arrow and Polars: values of every type, options, and what is refused."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import io
import json
import pickle
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.json
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from tests.connectors.sinks.rows import AT, FLAT, FLAT_ROWS, NESTED, NESTED_ROWS
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks import shaped
from tidemill.connectors.sinks.encoding import FORMATS, Encoding, NotOurs, encoding_of

FLAT_TABLE = shaped(FLAT_ROWS, "intervals", FLAT)
NESTED_TABLE = shaped(NESTED_ROWS, "intervals", NESTED)
READ = {
    "parquet": lambda data: pq.read_table(io.BytesIO(data)),
    "orc": lambda data: pyarrow.orc.read_table(io.BytesIO(data)),
    "arrow": lambda data: pa.ipc.open_file(data).read_all(),
}


def encoded(table: pa.Table, format: str, **options: Any) -> bytes:
    return bytes(encoding_of(format, options, table.schema).encode(table))


@pytest.mark.parametrize("format", READ)
@pytest.mark.parametrize("table", [FLAT_TABLE, NESTED_TABLE], ids=["flat", "nested"])
def test_columns_come_back(format: str, table: pa.Table) -> None:
    found = READ[format](encoded(table, format))
    assert found.column_names == table.column_names
    assert found.to_pylist() == table.to_pylist()
    if format != "orc":  # which has nanoseconds, and dates without a zone all the same
        assert found.schema.equals(table.schema)


@pytest.mark.parametrize(
    ("format", "codecs"),
    [
        ("parquet", ["none", "uncompressed", "SNAPPY", "gzip", "zstd", "lz4", "lz4_raw"]),
        ("orc", ["none", "uncompressed", "snappy", "zlib", "zstd", "lz4"]),
        ("arrow", ["none", "uncompressed", "lz4", "zstd"]),
    ],
)
def test_compression(format: str, codecs: list[str]) -> None:
    for codec in codecs:
        found = READ[format](encoded(FLAT_TABLE, format, compression=codec))
        assert found.to_pylist() == FLAT_TABLE.to_pylist()


@pytest.mark.parametrize("format", ["csv", "json"])
def test_texts_are_compressed(format: str) -> None:
    plain = encoded(FLAT_TABLE, format)
    assert gzip.decompress(encoded(FLAT_TABLE, format, compression="gzip")) == plain
    assert bz2.decompress(encoded(FLAT_TABLE, format, codec="bzip2")) == plain
    assert Encoding(format, {"compression": "gzip"}).suffix == f".{format}.gz"


def test_lines_of_json() -> None:
    lines = [json.loads(line) for line in encoded(NESTED_TABLE, "json").splitlines()]
    assert lines == [
        {
            "data": "/wA=",
            "list": [1, None, 3],
            "struct": {"a": 1, "at": "2024-02-29T23:59:59.123456"},
            "map": {"x": 1.5, "y": None},
            "deep": [{"m": {"k": [0.5, None]}}, None],
            "valid_from": 1,
            "valid_to": 2,
        },
        {"data": "", "list": [], "struct": {}, "map": {}, "deep": []}
        | {"valid_from": 1, "valid_to": 2},
        {"valid_from": 1},
    ]
    (*_, last) = encoded(NESTED_TABLE, "json", ignoreNullFields=False).splitlines()
    assert json.loads(last) == dict.fromkeys(NESTED_TABLE.column_names) | {"valid_from": 1}


def test_json_as_arrow_reads_it() -> None:
    # Days are texts to Arrow, and its decimals are texts too.
    plain = FLAT_TABLE.drop_columns(["day", "price"])
    told = pyarrow.json.ParseOptions(explicit_schema=plain.schema)
    found = pyarrow.json.read_json(io.BytesIO(encoded(plain, "json")), parse_options=told)
    assert found.to_pylist() == plain.to_pylist()


def test_numbers_of_json() -> None:
    table = pa.table(
        {
            "d": [float("nan"), float("inf"), float("-inf"), 0.1],
            "f": pa.array([0.1, float("nan"), 1e20, None], pa.float32()),
            "c": pa.array([None, "12345678901234567890.120", "-0.001", "0.000"]).cast(
                pa.decimal128(30, 3)
            ),
        }
    )
    assert encoded(table, "json").splitlines() == [
        b'{"d":"NaN","f":0.1}',
        b'{"d":"Infinity","f":"NaN","c":12345678901234567890.120}',
        b'{"d":"-Infinity","f":1e+20,"c":-0.001}',
        b'{"d":0.1,"c":0.000}',
    ]


@pytest.mark.parametrize(
    ("kind", "key", "text"),
    [
        (pa.int32(), 7, "7"),
        (pa.bool_(), True, "true"),
        (pa.float64(), 0.5, "0.5"),
        (pa.float64(), float("inf"), "Infinity"),
        (pa.decimal128(3, 1), Decimal("1.0"), "1.0"),
        (pa.date32(), dt.date(2024, 2, 29), "2024-02-29"),
        (pa.timestamp("us"), AT, "2024-02-29T23:59:59.123456"),
    ],
)
def test_keys_of_maps_are_texts(kind: pa.DataType, key: Any, text: str) -> None:
    maps = pa.array([[(key, 1)]], pa.map_(kind, pa.int64()))
    assert json.loads(encoded(pa.table({"m": maps}), "json")) == {"m": {text: 1}}


def test_csv_as_others_read_it() -> None:
    """With doubled quotes, which is what most readers know."""
    data = encoded(FLAT_TABLE, "csv", header=True, escape='"', nullValue="NULL")
    lines = list(csv.reader(io.StringIO(data.decode())))
    assert lines[0] == FLAT_TABLE.column_names
    assert [line[7] for line in lines[1:]] == [
        "NULL" if text is None else text for text in FLAT_TABLE["text"].to_pylist()
    ]
    wanted = pl.DataFrame(FLAT_TABLE).schema
    missing = encoded(FLAT_TABLE, "csv", header=True, escape='"')
    found = pl.read_csv(missing, schema=wanted)
    # Polars takes a pair of quotes for an empty text, as it was meant.
    assert found["text"].to_list() == FLAT_TABLE["text"].to_pylist()
    assert found.drop("text").equals(pl.DataFrame(FLAT_TABLE).drop("text"))


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["1,x", '2,""', "3,", '4,"a,b"', '5,"q\\"\\\\"', "6,b\\"]),
        ({"sep": "|"}, ["1|x", '2|""', "3|", "4|a,b", '5|"q\\"\\\\"', "6|b\\"]),
        ({"delimiter": ", "}, ["1, x", '2, ""', "3, ", "4, a,b", '5, "q\\"\\\\"', "6, b\\"]),
        ({"header": "True"}, ["k,v", "1,x", '2,""', "3,", '4,"a,b"', '5,"q\\"\\\\"', "6,b\\"]),
        ({"quote": "'"}, ["1,x", "2,''", "3,", "4,'a,b'", '5,q"\\', "6,b\\"]),
        ({"escape": '"'}, ["1,x", '2,""', "3,", '4,"a,b"', '5,"q""\\"', "6,b\\"]),
        ({"nullValue": "x"}, ['1,"x"', '2,""', "3,x", '4,"a,b"', '5,"q\\"\\\\"', "6,b\\"]),
        ({"emptyValue": "-"}, ["1,x", "2,-", "3,", '4,"a,b"', '5,"q\\"\\\\"', "6,b\\"]),
        (
            {"quoteall": True},
            ['"1","x"', '"2",""', '"3",', '"4","a,b"', '"5","q\\"\\\\"', '"6","b\\\\"'],
        ),
    ],
)
def test_styles_of_csv(options: dict[str, Any], lines: list[str]) -> None:
    table = pa.table({"k": range(1, 7), "v": ["x", "", None, "a,b", 'q"\\', "b\\"]})
    assert encoded(table, "csv", **options).decode().splitlines() == lines


def test_numbers_of_csv() -> None:
    table = pa.table({"f": [float("inf"), float("-inf"), float("nan"), 1e-7], "n": [1, 2, 3, 4]})
    assert encoded(table, "csv") == b"Infinity,1\n-Infinity,2\nNaN,3\n1e-7,4\n"


def test_times_far_away() -> None:
    at = pa.array([10**18, -(10**17), None]).cast(pa.timestamp("us"))
    table = pa.table({"at": at, "n": [1, 2, 3]})
    assert encoded(table, "csv").startswith(b"+33658-09-27T01:46:40.000000,1\n-1199-")
    assert encoded(table, "json").count(b'"at":"') == 2


@pytest.mark.parametrize("format", FORMATS)
def test_no_rows(format: str) -> None:
    data = encoded(FLAT_TABLE.slice(0, 0), format)
    if format in READ:
        assert READ[format](data).column_names == FLAT_TABLE.column_names
    else:
        assert data == b""


@pytest.mark.parametrize(
    ("format", "options", "reason"),
    [
        ("csv", {"timestampFormat": "yyyy"}, "the option timestampFormat is one of Spark"),
        ("csv", {"quote": ""}, "the option quote is not one character"),
        ("csv", {"header": "perhaps"}, "the option header is neither true nor false"),
        ("csv", {"compression": "deflate"}, "compression=deflate is not one of none"),
        ("json", {"dateFormat": "yyyy"}, "dateFormat"),
        ("parquet", {"compression": "lzo"}, "compression=lzo"),
        ("parquet", {"parquet.block.size": 5}, "parquet.block.size"),
        ("orc", {"orc.bloom.filter.columns": "k"}, "orc.bloom.filter.columns"),
        ("arrow", {"compression": "snappy"}, "compression=snappy"),
    ],
)
def test_options_of_spark(format: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotOurs, match=reason):
        encoding_of(format, options, FLAT_TABLE.schema)


@pytest.mark.parametrize(
    ("format", "kind", "name"),
    [
        ("csv", pa.binary(), "BINARY"),
        ("csv", pa.list_(pa.int64()), "ARRAY<BIGINT>"),
        ("csv", pa.duration("us"), "INTERVAL"),
        ("json", pa.list_(pa.duration("us")), "ARRAY<INTERVAL>"),
        ("parquet", pa.struct([("a", pa.duration("us"))]), "STRUCT<a: INTERVAL>"),
        ("orc", pa.null(), "NULL"),
        ("orc", pa.map_(pa.string(), pa.duration("us")), "MAP<STRING, INTERVAL>"),
    ],
)
def test_types_without_a_place(format: str, kind: pa.DataType, name: str) -> None:
    with pytest.raises(NotOurs, match=f"the column x is {name}"):
        encoding_of(format, {}, Schema.of(x=kind).to_arrow())


@pytest.mark.parametrize("format", FORMATS)
def test_an_encoding_travels(format: str) -> None:
    encoding = encoding_of(format, {"compression": "none"}, FLAT_TABLE.schema)
    there = pickle.loads(pickle.dumps(encoding))
    assert there == encoding
    assert bytes(there.encode(FLAT_TABLE)) == bytes(encoding.encode(FLAT_TABLE))
