"""Statements name only the files and servers that they may."""

import os

import pyarrow as pa
import pytest

from tidemill import Engine
from tidemill.algebra import Schema
from tidemill.connectors.feeds import FilesFeed, read_slice
from tidemill.connectors.feeds.slices import from_json, to_json
from tidemill.engine.allow import AllowList
from tidemill.errors import CatalogError, ExecutionError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "open" / "deep").mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("a,at\n1,2\n")
    (tmp_path / "open" / "rows.csv").write_text("a,at\n1,2\n")
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "rows.csv").write_text("a,at\n1,2\n")
    (tmp_path / "mixed" / "link.csv").symlink_to(tmp_path / "secret.csv")
    (tmp_path / "open-not").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "permitted"),
    [
        ("open/rows.csv", True),
        ("open", True),
        ("open/", True),
        ("open/*.csv", True),
        ("open/r*.csv", True),
        ("open/deep/../rows.csv", True),
        ("open/missing.csv", True),
        ("secret.csv", False),
        ("*.csv", False),
        ("open*/rows.csv", False),
        ("open-not/rows.csv", False),
        ("open/../secret.csv", False),
        ("mixed/rows.csv", True),
        ("mixed/link.csv", False),
        ("mixed/*.csv", False),
        ("mixed/{link,rows}.csv", False),
        ("mixed", False),
        ("open/*/../../secret.csv", False),
        ("open/{rows,../secret}.csv", False),
        ("open/rows.csv,secret.csv", False),
        ("open/\\../secret.csv", False),
        ("open/{../secret.csv}", False),
        ("open/{rows}.csv", False),
        ("open/[.][.]/secret.csv", True),  # no pattern finds `..`
        ("", False),
        ("open/rows.csv\0", False),
    ],
)
@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_paths(folder, path, permitted, form):
    allow = AllowList.of([str(folder / "open"), str(folder / "mixed")])
    whole = os.path.join(folder, path) if path else ""
    assert allow.permits("csv", {"path": form.format(whole) if whole else ""}) is permitted


@pytest.mark.parametrize(
    ("format", "options", "permitted"),
    [
        ("console", {}, True),
        ("rate", {"rowsPerSecond": 5}, True),
        ("kafka", {"servers": "h:9092", "topic": "bid"}, False),
        ("kafka", {"servers": "mq:9092", "topic": "bid"}, True),
        ("Kafka", {"SERVERS": "MQ, mq2:9093", "topic": "bid"}, True),
        ("kafka", {"servers": "mq,elsewhere", "topic": "bid"}, False),
        ("kafka", {"servers": "mq", "topic": "secrets"}, False),
        ("kafka", {"servers": "mq:9093", "topic": "bid"}, False),
        ("kafka", {"servers": "", "topic": "bid"}, False),
        ("kafka", {"topic": "bid"}, False),
        ("kafka", {"servers": "open", "topic": "any"}, True),
        ("kafka", {"servers": "open", "topic": "any", "ssl.ca.location": "/srv/ca.pem"}, True),
        ("kafka", {"servers": "open", "topic": "any", "ssl.ca.location": "/etc/ca.pem"}, False),
        ("csv", {}, False),
        ("csv", {"path": "/srv/a"}, True),
        ("csv", {"path": "file:/srv/a"}, False),
        ("csv", {"path": "FILE:///srv/a"}, False),
        ("csv", {"path": "file:///srv/%2e%2e/a"}, False),
        ("org.apache.spark.sql.execution.datasources.csv.CSVFileFormat", {"path": "/srv"}, False),
        ("binaryFile", {"path": "/srv/a"}, False),
        ("csv", {"path": "http://elsewhere/open"}, False),
        ("csv", {"path": "s3a://bucket/open"}, False),
        ("csv", {"path": "file://elsewhere/open"}, False),
        ("csv", {"PATH": "/"}, False),
        ("csv", {"path": "/srv", "paths": "/etc"}, False),
        ("postgres", {"url": "postgresql://db/shop", "table": "t"}, True),
        ("postgres", {"url": "postgresql://ann:secret@db:5432/shop", "table": "t"}, True),
        ("postgres", {"url": "host=db dbname=shop", "table": "t"}, True),
        ("postgres", {"host": "db", "dbname": "shop", "table": "t"}, True),
        ("postgres", {"url": "postgresql://db/other", "table": "t"}, False),
        ("postgres", {"url": "postgresql://db:5433/shop", "table": "t"}, False),
        ("postgres", {"url": "postgresql://db/shop?host=evil", "table": "t"}, False),
        ("postgres", {"url": "postgresql://db/shop?hostaddr=10.0.0.1", "table": "t"}, False),
        ("postgres", {"url": "postgresql://db/shop?service=x", "table": "t"}, False),
        ("postgres", {"url": "postgresql://db,evil/shop", "table": "t"}, False),
        ("postgres", {"url": "postgresql://db/shop", "host": "evil", "table": "t"}, False),
        ("postgres", {"url": "nonsense", "table": "t"}, False),
        ("postgres", {"table": "t"}, False),
        ("postgres", {"url": "postgresql://db/shop?sslkey=/etc/key", "table": "t"}, False),
        ("postgres", {"url": "postgresql:///shop", "table": "t"}, False),
    ],
)
def test_formats_and_servers(format, options, permitted):
    kafka = ["kafka://mq:9092,mq2:9093/bid", "kafka://open"]
    allow = AllowList.of(["/srv", "postgresql://db/shop", *kafka])
    assert allow.permits(format, options) is permitted


def test_a_format_can_be_allowed_as_a_whole():
    assert AllowList.of(["Kafka()"]).permits("kafka", {"servers": "h:9092"})


STREAM = "CREATE STREAM s (a INT, at BIGINT) SOURCE csv(path => '{}') ORDERED BY at"
SINK = "INSERT INTO parquet(path => '{}') SELECT a FROM b"


@pytest.mark.parametrize(
    "statement",
    [
        STREAM,
        "CREATE RELATION s (a INT) SOURCE csv(path => '{}')",
        "CREATE RELATION s (a INT) SOURCE csv(path => '{}') CHANGING",
        SINK,
        f"CREATE QUERY q AS {SINK}",
    ],
)
def test_statements_are_refused_at_their_place(folder, statement):
    engine = Engine(runtime="inprocess", allow=AllowList.of([str(folder / "open")]))
    engine.sql("CREATE STREAM b (a INT, at BIGINT) ORDERED BY at")
    wrong = statement.format(folder / "secret.csv")
    with pytest.raises(CatalogError, match="is not allowed here") as raised:
        engine.sql(wrong)
    assert (
        raised.value.column
        == wrong.index("(path") - len(wrong[: wrong.index("(path")].split()[-1]) + 1
    )
    assert [error.message for error in engine.check(wrong).errors] == [raised.value.message]
    engine.sql(statement.format(folder / "open" / "rows.csv"))


def test_a_server_without_a_host_is_the_socket_of_this_machine():
    allow = AllowList.of(["postgresql:///shop"])
    assert allow.permits("postgres", {"url": "postgresql:///shop", "table": "t"})
    assert not allow.permits("postgres", {"url": "postgresql://evil/shop", "table": "t"})
    assert not allow.permits("postgres", {"url": "postgresql:///shop?host=/tmp", "table": "t"})


def _reading(folder, path):
    engine = Engine(runtime="inprocess", allow=AllowList.of([str(folder / "open")]))
    engine.sql(STREAM.format(path))
    return engine.sql("SELECT a FROM s")


@pytest.mark.parametrize("path", ["open", "open/later.csv", "open/*.csv", "open/deep", "open/**"])
def test_a_link_that_is_made_later_is_not_followed_outside(folder, path):
    (folder / "open" / "rows.csv").unlink()
    query = _reading(folder, folder / path)
    (folder / "closed").mkdir()
    (folder / "closed" / "more.csv").write_text("a,at\n7,8\n")
    if path == "open/deep":
        (folder / "open" / "deep").rmdir()
        (folder / "open" / "deep").symlink_to(folder / "closed")
    else:
        (folder / "open" / "later.csv").symlink_to(folder / "secret.csv")
    with pytest.raises(ExecutionError, match="leads outside the allowed folders"):
        query.collect()


def test_a_link_within_is_followed(folder):
    (folder / "open" / "rows.csv").rename(folder / "open" / ".first")
    (folder / "open" / "later.csv").symlink_to(folder / "open" / ".first")
    assert _reading(folder, folder / "open").collect().num_rows == 1


def test_a_file_that_became_a_link_after_it_was_found_is_not_read(folder):
    files = FilesFeed("s", "csv", str(folder / "open"), within=(str(folder / "open"),))
    (slice,) = files.slices(0, files.poll())
    schema = Schema.of(a=pa.int32(), at=pa.int64())
    assert read_slice(slice, schema, ["a"], "s").num_rows == 1
    (folder / "open" / "rows.csv").unlink()
    (folder / "open" / "rows.csv").symlink_to(folder / "secret.csv")
    with pytest.raises(ExecutionError, match="leads outside the allowed folders"):
        read_slice(from_json(to_json(slice)), schema, ["a"], "s")


def test_files_that_only_spark_reads_are_not_allowed_by_their_folder(folder):
    engine = Engine(runtime="inprocess", allow=AllowList.of([str(folder / "open")]))
    text = STREAM.replace("'{}'", f"'{folder}/open', mode => 'PERMISSIVE'")
    with pytest.raises(CatalogError, match="is not allowed here"):
        engine.sql(text)
