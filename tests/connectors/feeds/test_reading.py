from __future__ import annotations

import bz2
import gzip
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from tidemill import ExecutionError
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import normalize
from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds import FileSlice, TableSlice, read_slice, relation_table, understands
from tidemill.connectors.feeds.options import dialect
from tidemill.connectors.feeds.quoting import fields_of, is_plain

BID = Schema.of(item=pa.string(), price=pa.int64(), at=pa.timestamp("us"))
TABLE = pa.table(
    {
        "at": pa.array([datetime(2024, 3, 1), None], pa.timestamp("us")),
        "unused": pa.array([1, 2]),
        "price": pa.array([3, 4], pa.int32()),
        "item": ["lamp", "vase"],
    }
)
ROWS = [{"price": 3, "item": "lamp"}, {"price": 4, "item": "vase"}]


def write(path: Path, table: pa.Table) -> FileSlice:
    format = path.suffix[1:]
    if format == "parquet":
        pq.write_table(table, path)
    elif format == "orc":
        orc.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return FileSlice(format, str(path))


def text(path: Path, content: str | bytes, **options: Any) -> FileSlice:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return FileSlice(path.name.split(".")[1], str(path), tuple(options.items()))


def read(
    slice: FileSlice | TableSlice, schema: Schema = BID, *columns: str
) -> list[dict[str, Any]]:
    table = read_slice(slice, schema, columns or schema.names, "bid")
    assert table.schema == schema.select(columns or schema.names).to_arrow()
    table.validate(full=True)
    return table.to_pylist()


@pytest.mark.parametrize("format", ["parquet", "orc", "arrow"])
def test_only_the_wanted_columns(tmp_path: Path, format: str) -> None:
    slice = write(tmp_path / f"f.{format}", TABLE)
    assert read(slice, BID, "price", "item") == ROWS
    assert read_slice(slice, BID, [], "bid").num_rows == 2
    assert read(slice, BID, "at") == [{"at": datetime(2024, 3, 1)}, {"at": None}]


@pytest.mark.parametrize("format", ["parquet", "orc", "arrow"])
def test_errors_of_files_with_types(tmp_path: Path, format: str) -> None:
    slice = write(tmp_path / f"f.{format}", TABLE)
    with pytest.raises(ExecutionError) as caught:
        read(slice, Schema.of(cost=pa.int64()))
    message = f"cannot read f.{format} of `bid` as {format}: column `cost` is missing"
    assert caught.value.message == f"{message}; there are at, unused, price, item"
    assert caught.value.help == "the declared columns are: cost BIGINT"
    with pytest.raises(ExecutionError, match="column `item` is STRING, not BIGINT"):
        read(slice, Schema.of(item=pa.int64()))
    with pytest.raises(ExecutionError, match="column `unused` is BIGINT, not INT"):
        read(slice, Schema.of(unused=pa.int32()))
    Path(slice.path).write_text("nothing of the kind")
    with pytest.raises(ExecutionError, match=rf"cannot read f\.{format} of `bid` as {format}: "):
        read(slice)
    with pytest.raises(ExecutionError, match=rf"cannot read gone of `bid` as {format}: "):
        read(FileSlice(format, str(tmp_path / "gone")))


def test_names_in_another_case(tmp_path: Path) -> None:
    slice = write(tmp_path / "f.parquet", pa.table({"Item": ["lamp"], "a.b": [1]}))
    assert read(slice, Schema.of(item=pa.string())) == [{"item": "lamp"}]
    assert read(slice, Schema.of(**{"A.b": pa.int64()})) == [{"A.b": 1}]
    twice = write(tmp_path / "g.parquet", pa.table({"Item": ["lamp"], "ITEM": [1]}))
    with pytest.raises(ExecutionError, match="column `item` is there 2 times"):
        read(twice, Schema.of(item=pa.string()))
    assert read(twice, Schema.of(Item=pa.string())) == [{"Item": "lamp"}]


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "array",
    [
        pa.array(["x", None]).dictionary_encode(),
        pa.array(["x"], pa.large_string()),
        pa.array([1], pa.uint32()),
        pa.array([2**63], pa.uint64()),
        pa.array([1_000], pa.timestamp("ms")),
        pa.array([1_000], pa.timestamp("ns")),
        pa.array([0], pa.timestamp("us", tz="Asia/Tokyo")),
        pa.array([Decimal("1.50")], pa.decimal128(10, 2)),
        pa.array([[1, None]], pa.large_list(pa.int64())),
        pa.array([{"a": "x"}], pa.struct([("a", pa.large_string())])),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    ],
    ids=lambda array: str(array.type),
)
def test_all_types(tmp_path: Path, format: str, array: pa.Array) -> None:
    slice = write(tmp_path / f"f.{format}", pa.table({"v": array}))
    wanted = normalize(array.type)
    assert read(slice, Schema.of(v=wanted)) == [{"v": v} for v in array.cast(wanted).to_pylist()]


def test_instants_become_utc(tmp_path: Path) -> None:
    zoned = pa.array([datetime(2024, 3, 1, 12)], pa.timestamp("us")).cast(
        pa.timestamp("us", tz="America/New_York")
    )
    slice = write(tmp_path / "f.parquet", pa.table({"at": zoned}))
    assert read(slice, Schema.of(at=pa.timestamp("us"))) == [{"at": datetime(2024, 3, 1, 12)}]


def test_nanoseconds_are_not_cut_off(tmp_path: Path) -> None:
    slice = write(tmp_path / "f.parquet", pa.table({"at": pa.array([1], pa.timestamp("ns"))}))
    with pytest.raises(ExecutionError, match=r"column `at`, row 1: .* is no TIMESTAMP"):
        read(slice, Schema.of(at=pa.timestamp("us")))


def test_arrow_files_are_not_copied(tmp_path: Path) -> None:
    slice = write(tmp_path / "f.arrow", pa.table({"v": pa.array(range(100_000), pa.int64())}))
    before = pa.total_allocated_bytes()
    table = read_slice(slice, Schema.of(v=pa.int64()), ["v"], "s")
    assert pa.total_allocated_bytes() - before < 10_000
    assert table.num_rows == 100_000


def test_files_that_are_not_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if they were: the same reader, by the file system of the URI."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    monkeypatch.setattr("tidemill.connectors.feeds.opening.is_local", lambda path: False)
    monkeypatch.setattr("tidemill.connectors.feeds.formats.is_local", lambda path: False)
    for format in ("parquet", "orc", "arrow"):
        there = FileSlice(format, Path(write(folder / f"f.{format}", TABLE).path).as_uri())
        assert read(there, BID, "price", "item") == ROWS
        assert read_slice(there, BID, [], "bid").num_rows == 2


def test_tables_in_memory() -> None:
    assert read(TableSlice(TABLE), BID, "price", "item") == ROWS
    with pytest.raises(ExecutionError, match="cannot read a table of `bid`: column `x` is missing"):
        read(TableSlice(TABLE), Schema.of(x=pa.int64()))


CSV = "item,price,at\nlamp,3,2024-03-01\nvase,,\n"
CSV_ROWS = [
    {"item": "lamp", "price": 3, "at": datetime(2024, 3, 1)},
    {"item": "vase", "price": None, "at": None},
]
JSON = '{"item":"lamp","price":3,"at":"2024-03-01","x":[1]}\n{"item":"vase"}\n'


def test_csv(tmp_path: Path) -> None:
    slice = text(tmp_path / "f.csv", CSV)
    assert read(slice) == CSV_ROWS
    assert read(slice, BID, "at", "price") == [
        {"at": row["at"], "price": row["price"]} for row in CSV_ROWS
    ]
    assert read_slice(slice, BID, [], "bid").num_rows == 2
    by_place = text(tmp_path / "g.csv", CSV.partition("\n")[2], header="false")
    assert read(by_place) == CSV_ROWS


def test_json(tmp_path: Path) -> None:
    slice = text(tmp_path / "f.json", JSON)
    assert read(slice) == CSV_ROWS
    assert read_slice(slice, BID, [], "bid").num_rows == 2
    with_list = text(tmp_path / "g.json", JSON + "[]\n")  # goes line by line
    assert read(with_list) == CSV_ROWS
    assert read_slice(with_list, BID, [], "bid").num_rows == 2


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst", "GZ"])
@pytest.mark.parametrize(("format", "content"), [("csv", CSV), ("json", JSON)])
def test_packed_files(tmp_path: Path, suffix: str, format: str, content: str) -> None:
    data = content.encode()
    packed = {
        "gz": lambda: gzip.compress(data[:20]) + gzip.compress(data[20:]),
        "bz2": lambda: bz2.compress(data),
        "zst": lambda: bytes(pa.compress(data, "zstd")),
    }[suffix.lower()]()
    assert read(text(tmp_path / f"f.{format}.{suffix}", packed)) == CSV_ROWS
    with pytest.raises(ExecutionError, match=f"cannot read g.{format}.{suffix} of `bid` as"):
        read(text(tmp_path / f"g.{format}.{suffix}", b"not packed at all"))


def test_other_packers_are_named(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match=r"only \.gz, \.bz2, \.zst are unpacked here"):
        read(text(tmp_path / "f.csv.xz", b"x"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,cost,at\n", "its columns are item, cost, at, not item, price, at"),
        ("item,price,at\nlamp,much,\n", "column `price`: 'much' is no BIGINT"),
        ("item,price,at\nlamp,3,soon\n", "column `at`: 'soon' is no TIMESTAMP"),
        ("item,price,at\nlamp,3,2024-02-30\n", "column `at`: '2024-02-30' is no TIMESTAMP"),
        ("item,price,at\nlamp,3,2024-03-01Z\n", "column `at`: '2024-03-01Z' is no TIMESTAMP"),
        ("item,price,at\nlamp,9223372036854775808,\n", "'9223372036854775808' is no BIGINT"),
        ("item,price,at\nlamp,3\n", "CSV parse error: Row #1: Expected 3 columns, got 2"),
        ('item,price,at\n"a ""lamp""",3,\n', r"row 1: no value in quotes .* escape => '\"'"),
        ('item,price,at\n5",3\n', "row 1 has 2 columns instead of 3"),
        (b"item,price,at\n\xff,3,\n", "byte 15 is not utf-8"),
    ],
)
def test_errors_in_csv(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(
        ExecutionError, match=f"cannot read f.csv of `bid` as csv: .*{message}"
    ) as e:
        read(text(tmp_path / "f.csv", content))
    assert e.value.help == f"the declared columns are: {BID}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"item":"lamp"}\n{"price":"3"}\n', "line 2: column `price`: '3' is no BIGINT"),
        ('{"price":3.5}\n', "line 1: column `price`: '3.5' is no BIGINT"),
        ('{"at":"soon"}\n', "line 1: column `at`: 'soon' is no TIMESTAMP"),
        ('{"item":{"x":1}}\n', "line 1: column `item` is an object, not STRING"),
        ('{"price":[1]}\n', "line 1: column `price` is a list, not BIGINT"),
        ('{"item":"lamp"\n', "line 1: Expecting ',' delimiter"),
        ('{"item":"a"} {"item":"b"}\n', "line 1: Extra data"),
        ("null\n", "line 1 is no object"),
        (b'{"item":"\xff"}\n', "byte 10 is not utf-8"),
    ],
)
def test_errors_in_json(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ExecutionError, match=f"cannot read f.json of `bid` as json: {message}"):
        read(text(tmp_path / "f.json", content))


def test_encodings(tmp_path: Path) -> None:
    words = Schema.of(item=pa.string())
    latin = "item\ncaf\u00e9\n".encode("latin-1")
    assert read(text(tmp_path / "f.csv", latin, encoding="ISO-8859-1"), words) == [
        {"item": "caf\u00e9"}
    ]


def test_types_that_csv_cannot_have(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="values of type ARRAY<INT> cannot be in such a file"):
        read(text(tmp_path / "f.csv", "v\n1\n"), Schema.of(v=pa.list_(pa.int32())))


def test_many_lines_and_odd_ones_among_them(tmp_path: Path) -> None:
    lines = [f'"item {n}, ""odd""",{n},2024-03-01' for n in range(3000)]
    slice = text(tmp_path / "f.csv", "item,price,at\n" + "\n".join(lines), escape='"')
    table = read_slice(slice, BID, ["item", "price"], "bid")
    assert table.column("price").to_pylist() == list(range(3000))
    assert table.column("item")[7].as_py() == 'item 7, "odd"'
    plain = read_slice(
        text(tmp_path / "g.csv", '5"\n' + '"a, b"\n' * 3000, header=False),
        Schema.of(v=pa.string()),
        ["v"],
        "s",
    )
    assert plain.column("v").to_pylist() == ['5"', *["a, b"] * 3000]


@pytest.mark.parametrize(
    ("body", "options", "plain"),
    [
        ('"a","b"\n', {}, True),
        ('"a""b",c\n', {}, False),
        ('"a""b",c\n', {"escape": '"'}, True),
        ('"","""",""\n', {"escape": '"'}, True),
        ('"a" "b"\n', {"escape": '"'}, False),
        ('a"b"\n', {}, False),
        ('"a\nb"\n', {}, False),
        ('"a\nb"\n', {"multiLine": True}, True),
        ('"a\\\\"\n', {}, False),
        ("a\\\\b\n", {}, True),
        ('"a', {}, False),
    ],
)
def test_what_is_plain(body: str, options: dict[str, Any], plain: bool) -> None:
    assert is_plain(body.encode(), dialect(options)) is plain


def test_fields() -> None:
    assert list(fields_of('a,\n\n"",b\n,"', dialect({"quote": ""}))) == [
        ["a", None],
        ['""', "b"],
        [None, '"'],
    ]


def test_what_is_understood() -> None:
    assert understands("CSV", {"Header": True, "SEP": "\\t", "maxFilesPerTrigger": 5})
    assert understands("parquet", {"path": "x", "mergeSchema": True})
    for options in ({"sep": "\\|"}, {"escape": ""}, {"encoding": "UTF-16"}, {"dateFormat": "y"}):
        assert not understands("csv", options)
    assert not understands("json", {"multiLine": True})
    assert not understands("parquet", {"maxFilesPerTrigger": 0})
    with pytest.raises(ExecutionError, match="the option lineSep of csv is not known here"):
        read(FileSlice("csv", "f.csv", (("lineSep", "|"),)))


def test_relations(tmp_path: Path) -> None:
    schema = Schema.of(id=pa.int64(), day=pa.date32())
    for number in range(3):
        text(tmp_path / f"{number}.csv", f"id,day\n{number},2024-03-0{number + 1}\n")
    info = SourceInfo(
        "item", schema, declared=schema, format="csv", options={"path": str(tmp_path)}
    )
    table = relation_table(info)
    assert table.schema == schema.to_arrow()
    assert sorted(table.column("day").to_pylist()) == [date(2024, 3, n) for n in (1, 2, 3)]
    assert relation_table(info, ["id"]).column_names == ["id"]
    text(tmp_path / "bad.csv", "id,day\nx,\n")
    with pytest.raises(ExecutionError, match=r"cannot read bad\.csv of `item` as csv"):
        relation_table(info)
    nowhere = SourceInfo("item", schema, declared=schema, format="csv", options={"path": "none"})
    with pytest.raises(ExecutionError, match=r"no files for `item` at .*none"):
        relation_table(nowhere)
