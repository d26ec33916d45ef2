"""Odd files are read as Spark reads them, or not at all."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidemill import ExecutionError
from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import FileSlice, read_slice

pytestmark = pytest.mark.spark

TWO = Schema.of(a=pa.string(), b=pa.string())
TYPES = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "tinyint": pa.int8(),
    "double": pa.float64(),
    "float": pa.float32(),
    "boolean": pa.bool_(),
    "decimal(10,2)": pa.decimal128(10, 2),
    "decimal(38,0)": pa.decimal128(38, 0),
    "date": pa.date32(),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "binary": pa.binary(),
}

INTEGERS = """3|+3|-3| 3|3 |3.0|1e3|0x1F|9223372036854775808|-9223372036854775808|1_000|-|+
--3|00012|127|128|-128|-129|2147483648|\u0663|0|-0|+-3|3-|1,000"""
FLOATS = """1.5| 1.5|1.5 |1d|1.5f|NaN|nan|Inf|-Inf|+Inf|inf|Infinity|-Infinity|+Infinity
 Infinity | NaN| Inf|1e400|-1e400|1e-400|1.|-.5|+.5e-3|0x1p3|1e|1,5|.|e5|1.5.2
123456789012345678901234567890|0.1|1e10"""
BOOLEANS = "true|TRUE|True|tRuE|false|FALSE|t|f|1|0|yes| true|true "
DECIMALS = """1.5|-1.50|+1.5|1.555|-1.555|1.545|0.005|-0.005|0.004|99999999.99|99999999.994
99999999.995|123456789.12|12345678901.5|1e3|1.5e-1|1e-400|1e7|1e8| 1.5|1,234.5
1,2,3|NaN|.5|5.|-|0|-0|0.00|1.5f|1e|--1"""
DATES = """2024-03-01|2024-3-1|2024-03-01 |2024-03-01T|2024-03-01 12:00:00|2024|2024-03
0001-01-01|1500-02-29|1582-10-10|1969-12-31|2024-02-30|2023-02-29|03/01/2024
epoch|now|20240301|2024-13-01|2024-03-01T12:00:00Z| 2024-03-01|2024-03-01x|2024-
2024-03-|9999-12-31|24-03-01"""
TIMES = """2024-03-01|2024-3-1|2024-03-01 12|2024-03-01 12:00|2024-03-01 12:00:00
2024-03-01T12:00:00|2024-03-01 9:5:3|2024-03-01 12:00:00.1
2024-03-01 12:00:00.123456|2024-03-01 12:00:00.123456789|2024-03-01 12:00:00.
2024-03-01 12:00:00Z|2024-03-01T12:00:00+01:00|2024-03-01T12:00:00.5Z
2024-03-01 12:00:00 UTC|2024-03-01 12:00:00 Europe/Berlin
 2024-03-01 12:00:00 |2024|2024-03|12:00|T12:00:00|2024-03-01 24:00:00|2024-03-01 23:59:60
1500-01-01 00:00:00|1969-12-31 23:59:59.999999|2024-02-30 00:00:00|1709294400
2024-03-01t12:00:00|2024-03-01  12:00:00|2024-03-01 12:|2024-03-01 12:00:
2024-03-01T|2024-03-01 123:00:00|2024T12:00:00|2024-03T12:00:00
2024-03-01 12:00:00,5|9999-12-31 23:59:59.999999|2024-03-01 -1:00:00"""
STRINGS = "x| x |caf\u00e9|\U0001f600|a\\b|'|#|\t|NULL|null|a\u2028b|a\x0bb|a\x85b"

VALUES = {
    "bigint": INTEGERS,
    "int": INTEGERS,
    "tinyint": INTEGERS,
    "double": FLOATS,
    "float": FLOATS,
    "boolean": BOOLEANS,
    "decimal(10,2)": DECIMALS,
    "decimal(38,0)": DECIMALS,
    "date": DATES,
    "timestamp_ntz": TIMES,
    "string": STRINGS,
    "binary": STRINGS,
}
# What Spark reads and we do not: digits of other scripts, Java's own numbers, and what would become
# another value in silence: infinity, or a time without its nanoseconds.
STRICTER = {"\u0663", "1d", "1.5f", "0x1p3", "1e400", "-1e400", "2024-03-01 12:00:00.123456789"}

MISSING = object()


def values(kind: str) -> list[str]:
    return [each for line in VALUES[kind].split("\n") for each in line.split("|")]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, Decimal):
        return str(one) == str(other)
    return (one is None and other is None) or one == other or (one != one and other != other)


def ours(slice: FileSlice, schema: Schema) -> list[tuple[Any, ...]] | None:
    """The rows, if they can be read."""
    try:
        rows = read_slice(slice, schema, schema.names, "s").to_pylist()
    except ExecutionError:
        return None
    return [tuple(row.values()) for row in rows]


def theirs(
    session: SparkSession, format: str, path: Path, schema: str, options: dict[str, Any]
) -> list[tuple[Any, ...]] | None:
    fixed = {"mode": "FAILFAST"} | (
        {"header": True, "enforceSchema": False} if format == "csv" else {}
    )
    reader = session.read.format(format).schema(schema).options(**fixed | options)
    try:
        table = reader.load(str(path)).toArrow()
    except (PySparkException, Py4JJavaError):
        return None
    return [tuple(row.values()) for row in table.to_pylist()]


def agree(mine: list[tuple[Any, ...]], spark: list[tuple[Any, ...]] | None) -> bool:
    return (
        spark is not None
        and len(mine) == len(spark)
        and all(
            same(a, b) for x, y in zip(mine, spark, strict=True) for a, b in zip(x, y, strict=True)
        )
    )


def permissive(
    session: SparkSession, path: Path, kind: str, count: int, **options: Any
) -> list[Any]:
    """What Spark reads from each line; MISSING if it cannot."""
    corrupt = "corrupt STRING"
    reader = session.read.schema(f"n INT, v {kind}, {corrupt}").options(
        mode="PERMISSIVE", columnNameOfCorruptRecord="corrupt", **options
    )
    format = path.suffix[1:]
    frame = reader.format(format).load(str(path))
    if format == "csv":
        frame = frame.cache()  # Spark does not read the corrupt column by itself
    rows = frame.select("n", "v", "corrupt").toArrow().to_pylist()
    found = {row["n"]: row["v"] if row["corrupt"] is None else MISSING for row in rows}
    return [found.get(number, MISSING) for number in range(count)]


@pytest.mark.parametrize("kind", VALUES)
def test_values_in_csv(session: SparkSession, tmp_path: Path, kind: str) -> None:
    texts = values(kind)
    path = tmp_path / "all.csv"
    path.write_text("".join(f'{n},"{text}"\n' for n, text in enumerate(texts)), "utf-8")
    spark = permissive(session, path, kind, len(texts))
    schema = Schema.of(n=pa.int32(), v=TYPES[kind])
    for n, (text, expected) in enumerate(zip(texts, spark, strict=True)):
        each = tmp_path / f"{n}.csv"
        each.write_text(f'{n},"{text}"\n', "utf-8")
        mine = ours(FileSlice("csv", str(each), (("header", False),)), schema)
        if mine is None:
            assert expected is MISSING or text in STRICTER, f"{text!r} is {expected!r} to Spark"
        else:
            assert expected is not MISSING, f"{text!r} is {mine[0][1]!r} here"
            assert same(mine[0][1], expected), f"{text!r}: {mine[0][1]!r}, not {expected!r}"


JSON_VALUES = {
    "bigint": '1|"1"|1.0|1e2|null|true|9223372036854775808|-0|01|""|{"b":1}|[1]|+1|-5|1 ',
    "tinyint": "127|128|-128|-129",
    "double": (
        '1|1.5|"NaN"|NaN|"Infinity"|Infinity|-Infinity|"-Infinity"|"1.5"|1e400|""|'
        "123456789012345678901234567890"
    ),
    "float": '1|1.5|0.1|16777217|"NaN"|1e39',
    "decimal(10,2)": (
        '1|1.5|1.555|-1.555|"1.5"|"1,000.5"|12345678901|1e-1|" 1.5"|99999999.99|'
        '99999999.995|"x"|true|1e3|0.1'
    ),
    "boolean": 'true|false|"true"|1|False|null',
    "string": '"x"|1|1.50|1e3|true|null|"\\u00e9\\ud83d\\ude00"|""|"\\n"|-0|"\\/"|{"b": 1}|[1, 2]',
    "date": '"2024-03-01"|"2024-3-1"|"2024-03-01T12:00:00Z"|19000|""|"x"|null',
    "timestamp_ntz": (
        '"2024-03-01"|"2024-03-01T12:00:00Z"|"2024-03-01 12:00:00.5"|1709294400|""|"2024-3-1 1:2:3"'
    ),
    "binary": '"YWI="|"YWI"|"x!"|1|""',
    "array<int>": '[1,2,null]|[]|5|[1,"x"]|null|[[1]]',
    "struct<b:int,c:string>": '{"b":1}|{"b":1,"c":"x","d":2}|{}|5|{"b":"x"}|null|{"b":null,"c":7}',
    "map<string,int>": '{"b":1,"c":null}|{}|5|{"b":"x"}|null',
}
NESTED = {
    "array<int>": pa.list_(pa.int32()),
    "struct<b:int,c:string>": pa.struct([("b", pa.int32()), ("c", pa.string())]),
    "map<string,int>": pa.map_(pa.string(), pa.int32()),
}
# Spark: a byte may be 255, texts of objects, base64 without its end, and so on.
STRICTER_JSON = {"128", '{"b": 1}', "[1, 2]", '"YWI"', '"x!"'}


@pytest.mark.parametrize("kind", JSON_VALUES)
def test_values_in_json(session: SparkSession, tmp_path: Path, kind: str) -> None:
    texts = JSON_VALUES[kind].split("|")
    path = tmp_path / "all.json"
    path.write_text("".join(f'{{"n":{n},"v":{text}}}\n' for n, text in enumerate(texts)), "utf-8")
    spark = permissive(session, path, kind, len(texts))
    schema = Schema.of(n=pa.int32(), v=(TYPES | NESTED)[kind])
    for n, (text, expected) in enumerate(zip(texts, spark, strict=True)):
        each = tmp_path / f"{n}.json"
        each.write_text(f'{{"n":{n},"v":{text}}}\n', "utf-8")
        mine = ours(FileSlice("json", str(each)), schema)
        if mine is None:
            assert expected is MISSING or text in STRICTER_JSON, (
                f"{text!r} is {expected!r} to Spark"
            )
        else:
            assert expected is not MISSING, f"{text!r} is {mine[0][1]!r} here"
            assert same(mine[0][1], expected), f"{text!r}: {mine[0][1]!r}, not {expected!r}"


RAW = {"header": False}
CSV_FILES: list[tuple[str, dict[str, Any]]] = [
    *(
        (text, RAW)
        for text in [
            'x,""\n',
            "x,\n",
            '"",x\n',
            '"say \\"hi\\"",x\n',
            '"a\\\\b",x\n',
            '"a\\\\",x\n',
            '"a\\b",x\n',
            'a\\"b,x\n',
            "a\\,b\n",
            'a"b,x\n',
            'a"b"c,x\n',
            ' "a",x\n',
            "a,b\n\nc,d\n",
            "a,b\n  \nc,d\n",
            "a,b\r\nc,d\r\n",
            "a,b\rc,d\r",
            "\ufeffa,b\n",
            '"\\"",x\n',
            '"a,b","c,d"\n',
            "  a , b \n",
            ",\n",
            '"  a "," b"\n',
            "\ta,b\n",
            "a\x85b,c\n",
            "a\u2028b,c\n",
            "a,b",
            '"a","b"',
            'x,"\\""\n5" disk,"y"\n',
            "caf\u00e9,\U0001f600\n",
            '"caf\u00e9","\U0001f600"\n5"\u00e9,x\n',
            '"a\\"b,c","d"\n"e","f"\n',
        ]
    ),
    *(
        (text, RAW | {"escape": '"'})
        for text in [
            '"say ""hi""",x\n',
            '"a\\b",x\n',
            '"a\\",x\n',
            '"","x"\n',
            'a""b,x\n',
            '"a""",""""\n',
            '"""a""",x\n',
        ]
    ),
    *((text, RAW | {"nullValue": "NA"}) for text in ['NA,"NA"\n', ',""\n', '"",NA\n']),
    *((text, RAW | {"nullValue": "NA", "emptyValue": "E"}) for text in ['NA,"NA"\n', ',""\n']),
    ('"",x\n', RAW | {"emptyValue": "E"}),
    ("#x,y\na,b\n #c,d\n#e,f", RAW | {"comment": "#"}),
    ("'a,b',c\n", RAW | {"quote": "'"}),
    ('"a,"b"\n', RAW | {"quote": ""}),
    ("a||b|c\n", RAW | {"sep": "||"}),
    ('"a||b"||c\n', RAW | {"sep": "||"}),
    ("a\tb\n\t\n", RAW | {"sep": "\\t"}),
    ("a;b\n", RAW | {"delimiter": ";"}),
    ('"a\nb",x\ny,z\n', RAW | {"multiLine": True}),
    ('"a\r\nb",x\r\n', RAW | {"multiLine": True}),
    ("A,b\n1,x\n", {}),
    ('"a","b"\n1,x\n', {}),
    ("\n\na,b\n1,x\n", {}),
    ("", {}),
    ("a,b\n", {}),
    ("#c\na,b\n1,x\n", {"comment": "#"}),
    ("\ufeffa,b\n1,x\n", {}),
    ("a,b\n1,x\na,b\n", {}),
]
# Here we read nothing, whatever Spark makes of it.
CSV_REFUSED: list[tuple[str | bytes, dict[str, Any]]] = [
    ('"say ""hi""",x\n', RAW),
    ('"a"b,x\n', RAW),
    ('"a" ,x\n', RAW),
    ('"a,x\n', RAW),
    ('"a\nb",x\n', RAW),
    ("a\n", RAW),
    ("a,b,c\n", RAW),
    (b"\xff,b\n", RAW),
    ('""\n', RAW),
    ('a,"b\n"\n', RAW),
    ("b,a\nx,1\n", {}),
    ("a,b,c\n1,x,y\n", {}),
    (" a,b\n1,x\n", {}),
    ("a\n1\n", {}),
    ('"a\nb",x\ny,z\r\n', RAW | {"multiLine": True}),
]


@pytest.mark.parametrize(("text", "options"), CSV_FILES, ids=lambda each: repr(each))
def test_csv(session: SparkSession, tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode())
    mine = ours(FileSlice("csv", str(path), tuple(options.items())), TWO)
    assert mine is not None
    assert agree(mine, spark := theirs(session, "csv", path, "a STRING, b STRING", options)), spark


@pytest.mark.parametrize(("text", "options"), CSV_REFUSED, ids=lambda each: repr(each))
def test_refused_csv(tmp_path: Path, text: str | bytes, options: dict[str, Any]) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert ours(FileSlice("csv", str(path), tuple(options.items())), TWO) is None


JSON_FILES = [
    '{"a":"x"}\n{"b":"y"}\n',
    "\n  \n",
    '{"a":"x"}\n\n  \n{"a":"y"}\n',
    '[{"a":"x"},{"a":"y"}]\n',
    "[]\n",
    '{"A":"x"}\n',
    '{"a":"x","a":"y"}\n',
    '{"a":"x"}\r\n{"a":"y"}\r\n',
    '{"a":"x"}\r{"a":"y"}\r',
    '\ufeff{"a":"x"}\n',
    '  {"a":"x"}  \n',
    '{"c":{"a":"x"},"a":"z"}',
    "{}\n",
    '{"a":1,"b":true}\n{"a":"x"}\n',
    '{"a":"{","b":"}"}\n',
]
JSON_REFUSED = [
    '{"a":"x"}{"a":"y"}\n',
    '{"a":"x"} y\n',
    '{"a":\n"x"}\n',
    '{"a":"x"\n',
    "null\n",
    "1\n",
    '{"a":"x",}\n',
    '{"a":"x\ty"}\n',
    b'{"a":"\xff"}\n',
    "{'a':1}\n",
    "[1]\n",
    '{"a":"x"}\n}\n{"b":"y"}\n',
]


@pytest.mark.parametrize("text", JSON_FILES)
def test_json(session: SparkSession, tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(text.encode())
    mine = ours(FileSlice("json", str(path)), TWO)
    assert mine is not None
    assert agree(mine, spark := theirs(session, "json", path, "a STRING, b STRING", {})), spark


@pytest.mark.parametrize("text", JSON_REFUSED)
def test_refused_json(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert ours(FileSlice("json", str(path)), TWO) is None


PARQUET = [
    (pa.array([1, None], pa.int32()), "bigint"),
    (pa.array([1, None], pa.int64()), "int"),
    (pa.array([1], pa.int8()), "int"),
    (pa.array([1], pa.int32()), "double"),
    (pa.array([1], pa.int64()), "double"),
    (pa.array([1.5], pa.float32()), "double"),
    (pa.array([1.5], pa.float64()), "float"),
    (pa.array(["x"]), "bigint"),
    (pa.array(["x"]).dictionary_encode(), "string"),
    (pa.array([b"x"]), "binary"),
    (pa.array([Decimal("1.50")], pa.decimal128(5, 2)), "decimal(10,2)"),
    (pa.array([Decimal("1.50")], pa.decimal128(12, 4)), "decimal(10,2)"),
    (pa.array([1], pa.int32()), "decimal(10,2)"),
    (pa.array([0], pa.timestamp("us")), "timestamp_ntz"),
    (pa.array([0], pa.timestamp("ms")), "timestamp_ntz"),
    (pa.array([10**15], pa.timestamp("us", tz="UTC")), "timestamp"),
    (pa.array([10**15], pa.timestamp("us", tz="America/New_York")), "timestamp"),
    (pa.array([3], pa.date32()), "date"),
    (pa.array([True, None]), "boolean"),
    (pa.array([[1, None]], pa.list_(pa.int32())), "array<int>"),
    (pa.array([3], pa.date32()), "string"),
]


@pytest.mark.parametrize(
    ("array", "kind"), PARQUET, ids=lambda each: str(getattr(each, "type", each))
)
def test_parquet(session: SparkSession, tmp_path: Path, array: pa.Array, kind: str) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"V": array}), path)
    types = TYPES | NESTED | {"timestamp": pa.timestamp("us")}
    mine = ours(FileSlice("parquet", str(path)), Schema.of(v=types[kind]))
    spark = theirs(session, "parquet", path, f"v {kind}", {})
    if kind == "timestamp" and spark is not None:  # an instant, in UTC
        spark = [(value.replace(tzinfo=None),) for (value,) in spark]
    if mine is None:
        assert spark is None
    else:
        assert agree(mine, spark), spark
