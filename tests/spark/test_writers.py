"""Results through writers of Spark's own."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceWriter
from pyspark.sql.types import StructType

import tidemill as tm
from tests.fabrics.answers import query_of
from tests.fabrics.ground import Ground
from tests.fabrics.test_sinks import COUNTS, NEWEST, SQL, intervals, snapshot
from tests.fabrics.test_started import engine_of
from tidemill.runtime.spark.snapshot_files import SnapshotFolder

pytestmark = pytest.mark.slow

NOOP_OF_SPARK = "org.apache.spark.sql.execution.datasources.noop.NoopDataSource"


class Pigeon(DataSource):
    """A format that refuses to write, in its own words."""

    @classmethod
    def name(cls) -> str:
        return "carrier"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        raise ValueError("pigeons do not fly")


@pytest.fixture
def engine(session: SparkSession) -> tm.Engine:
    return engine_of(Ground(session))


def test_any_writer(engine: tm.Engine) -> None:
    """What has no place of its own for a tick gets the rows at least once."""
    query = query_of(engine, SQL)
    query.start(NOOP_OF_SPARK, available_now=True).await_termination()
    assert query.progress.rows_out == len(intervals())


def test_a_format_that_only_spark_writes(
    session: SparkSession, engine: tm.Engine, tmp_path: Path
) -> None:
    """Every tick in a folder of its own, and of snapshots the newest one."""
    columns = {"intervals": "valid_from LONG, valid_to LONG", "snapshot": "snapshot_at LONG"}
    found = {}
    for form, sql in (("intervals", SQL), ("snapshot", COUNTS)):
        place = {"path": str(tmp_path / form), "rowTag": "row"}
        started = query_of(engine, sql).start("xml", form=form, available_now=True, **place)
        started.await_termination()
        reader = session.read.format("xml").schema(f"k LONG, n LONG, {columns[form]}")
        rows = reader.option("rowTag", "row").load(place["path"]).collect()
        found[form] = sorted(tuple(row)[: 4 if form == "intervals" else 3] for row in rows)
    assert found == {"intervals": intervals(), "snapshot": snapshot(NEWEST)}


@pytest.mark.parametrize(
    ("format", "options", "message", "help"),
    [
        ("parqet", {}, "does not have this format", "did you mean parquet? else"),
        ("pigeon", {}, "does not have this format", "add the package that has it"),
        ("delta", {"path": "hot"}, "does not have this format", '"io.delta:delta-spark_2.13:'),
        ("avro", {}, "does not have this format", f"spark-avro_2.13:{pyspark.__version__}"),
        ("jdbc", {"url": "jdbc:x:"}, "the option `dbtable` is missing", "options given: url"),
    ],
)
def test_what_spark_cannot_write_is_told_at_once(
    engine: tm.Engine, format: str, options: dict[str, str], message: str, help: str
) -> None:
    with pytest.raises(tm.ExecutionError, match=message) as caught:
        query_of(engine, SQL).start(format, available_now=True, **options)
    assert help in str(caught.value.help)


def test_a_format_made_in_python(session: SparkSession, engine: tm.Engine) -> None:
    """Spark knows it by its session only."""
    session.dataSource.register(Pigeon)
    with pytest.raises(tm.ExecutionError, match="pigeons do not fly"):
        query_of(engine, SQL).start("carrier", available_now=True).await_termination()


def test_an_answer_as_a_dataframe(engine: tm.Engine) -> None:
    query = query_of(engine, SQL)
    frame = query.to_spark()
    assert [kind for _, kind in frame.dtypes] == ["bigint"] * 4
    assert sorted(map(tuple, frame.collect())) == intervals()


class TestFolder:
    """Snapshots as Spark writes them."""

    def write(self, session: SparkSession, path: Path, tick: int, *values: int) -> set[str]:
        rows = session.createDataFrame([(value,) for value in values], "v INT").coalesce(1)
        SnapshotFolder(session, str(path)).replace(rows, tick, "parquet", {})
        found = session.read.parquet(str(path)).select("v", "snapshot").collect()
        assert sorted(map(tuple, found)) == [(value, tick) for value in values]
        return {each.name for each in path.iterdir() if each.name != "_other"}

    def test_a_tick_done_again_leaves_the_same(self, session: SparkSession, tmp_path: Path) -> None:
        """What is whole stays until the next is whole; then it goes."""
        (tmp_path / "_other").write_text("stays")
        names = [self.write(session, tmp_path, 7, 1, 2) for _ in range(3)]
        assert names == [{"snapshot=00000007"}, {"snapshot=000000007"}, {"snapshot=00000007"}]
        assert self.write(session, tmp_path, 8, 3) == {"snapshot=00000008"}
        assert (tmp_path / "_other").read_text() == "stays"

    def test_leavings_of_a_crash_go(self, session: SparkSession, tmp_path: Path) -> None:
        self.write(session, tmp_path, 7, 1)
        torn = tmp_path / "snapshot=00000008"
        torn.mkdir()
        (torn / "part-0.parquet").write_bytes(b"half of it")
        assert self.write(session, tmp_path, 8, 2) == {"snapshot=00000008"}

    def test_a_query_that_starts_anew(self, session: SparkSession, tmp_path: Path) -> None:
        self.write(session, tmp_path, 0, 1)
        assert self.write(session, tmp_path, 0, 5) == {"snapshot=000000000"}

    def test_a_write_that_fails_leaves_the_one_before(
        self, session: SparkSession, tmp_path: Path
    ) -> None:
        for tick in (7, 8):
            self.write(session, tmp_path, 7, 1)
            broken = session.sql("SELECT raise_error('no') AS v")
            with pytest.raises(Exception, match="no"):
                SnapshotFolder(session, str(tmp_path)).replace(broken, tick, "parquet", {})
            (whole,) = {path.parent for path in tmp_path.glob("*/_SUCCESS")}
            assert session.read.parquet(str(whole)).collect() == [(1,)]
