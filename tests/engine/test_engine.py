"""The Python API: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.catalog import SourceInfo

BIDS = [
    {"item": 1, "price": 10.0, "ts": 1},
    {"item": 2, "price": 5.5, "ts": 2},
    {"item": 1, "price": 12.0, "ts": 4},
]


def engine_of(source: Any, time: str = "ts", slack: Any = 0) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("s", source, time=time, slack=slack)
    return engine


def rows(query: tm.Query | None, **options: Any) -> list[tuple[Any, ...]]:
    assert query is not None
    return [tuple(row.values()) for row in query.collect(**options).to_pylist()]


class TestInputs:
    SQL = "SELECT item, price FROM s WINDOW(RANGE 2)"
    ANSWER = [(1, 10.0, 1, 3), (2, 5.5, 2, 4), (1, 12.0, 4, 6)]

    @pytest.mark.parametrize(
        "source",
        [
            pytest.param(BIDS, id="dicts"),
            pytest.param((row for row in BIDS), id="generator"),
            pytest.param(pa.Table.from_pylist(BIDS), id="arrow"),
            pytest.param(pl.DataFrame(BIDS), id="polars"),
            pytest.param(pa.Table.from_pylist(BIDS).to_batches()[0], id="record batch"),
            pytest.param(
                {"item": [1, 2, 1], "price": [10, 5.5, 12], "ts": [1, 2, 4]}, id="columns"
            ),
            pytest.param([pl.DataFrame(BIDS[:1]), pl.DataFrame(BIDS[1:])], id="two ticks"),
            pytest.param(
                [pl.DataFrame(BIDS).clear(), pl.DataFrame(BIDS)], id="an empty tick first"
            ),
        ],
    )
    def test_tables(self, source: Any) -> None:
        assert rows(engine_of(source).sql(self.SQL)) == self.ANSWER

    def test_rows_of_one_table_may_come_in_any_order(self) -> None:
        assert rows(engine_of(BIDS[::-1]).sql(self.SQL)) == self.ANSWER

    def test_integers_of_any_width_are_time(self) -> None:
        table = pa.table({"item": [7], "price": [1.0], "ts": pa.array([3], pa.uint16())})
        assert rows(engine_of(table).sql(self.SQL)) == [(7, 1.0, 3, 5)]

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (5, "`s` cannot be read from int"),
            ([], "`s` has no table, so its columns are not known"),
            ([pl.DataFrame(BIDS), pl.DataFrame({"ts": [1]})], "table 2 of `s` has other columns"),
            (pa.table({"ts": pa.array([1500], pa.timestamp("ns"))}), "without loss"),
            ([{"item": 1}], "`s` has no column `ts`"),
            ([{"ts": "noon"}], "the time column `ts` of `s` is STRING"),
        ],
    )
    def test_refused(self, source: Any, message: str) -> None:
        with pytest.raises(tm.CatalogError, match=message):
            engine_of(source)

    @pytest.mark.parametrize(
        ("time", "message"),
        [(None, "is NULL in 1 row"), (-1, "before the beginning"), (2**63 - 1, "beyond the end")],
    )
    def test_times_that_cannot_be(self, time: int | None, message: str) -> None:
        query = engine_of(pa.table({"ts": pa.array([time], pa.int64())})).sql(
            "SELECT 1 AS a FROM s"
        )
        assert query is not None
        with pytest.raises(tm.ExecutionError, match=message):
            query.collect()

    def test_a_name_is_taken_once(self) -> None:
        engine = engine_of(BIDS)
        with pytest.raises(tm.CatalogError, match="stream `s` already exists"):
            engine.stream("S", BIDS, time="ts")


class TestTime:
    def test_timestamps(self) -> None:
        noon = dt.datetime(2026, 1, 1, 12)
        query = engine_of([{"ts": noon}]).sql("SELECT 1 AS one FROM s WINDOW(RANGE 1 HOUR)")
        assert rows(query) == [(1, noon, noon + dt.timedelta(hours=1))]
        assert query is not None
        assert query.snapshot(noon).num_rows == 1
        assert query.snapshot(noon + dt.timedelta(hours=1)).num_rows == 0

    def test_an_open_end_is_null(self) -> None:
        assert rows(engine_of(BIDS[:1]).sql("SELECT item FROM s WINDOW(RANGE UNBOUNDED)")) == [
            (1, 1, None)
        ]

    def test_windows_up_to_the_end_of_time(self) -> None:
        late = 2**62
        engine = engine_of([{"v": 1, "ts": late}])
        assert rows(engine.sql(f"SELECT v FROM s WINDOW(RANGE {2**63 - 1})")) == [(1, late, None)]

    def test_time_can_be_read_but_is_no_column(self) -> None:
        engine = engine_of(BIDS[:1])
        assert rows(engine.sql("SELECT * FROM s")) == [(1, 10.0, 1, 2)]
        assert rows(engine.sql("SELECT ts, item FROM s")) == [(1, 1, 1, 2)]

    def test_an_instant_must_fit_the_time(self) -> None:
        query = engine_of(BIDS).sql("SELECT item FROM s")
        assert query is not None
        with pytest.raises(tm.TidemillError, match="not an instant of this query"):
            query.snapshot(dt.datetime(2026, 1, 1))


class TestLateRows:
    TICKS = [
        pa.table({"v": [1], "ts": [10]}),
        pa.table({"v": [2, 3, 4], "ts": [7, 8, 9]}),
        pa.table({"v": [5], "ts": [12]}),
    ]

    @pytest.mark.parametrize(("slack", "late"), [(0, 3), (1, 2), (2, 1), (3, 0)])
    def test_later_than_the_slack(self, slack: int, late: int) -> None:
        query = engine_of(self.TICKS, slack=slack).sql("SELECT v FROM s")
        assert len(rows(query)) == 5 - late
        assert query is not None
        assert query.progress.late_rows == late
        assert query.progress.rows_in == 5

    @pytest.mark.parametrize("slack", ["2 seconds", dt.timedelta(seconds=2), 2_000_000])
    def test_durations(self, slack: Any) -> None:
        start = dt.datetime(2026, 1, 1)
        ticks = [
            pa.table({"ts": pa.array([start + dt.timedelta(seconds=s)], pa.timestamp("us"))})
            for s in (10, 8, 7)
        ]
        query = engine_of(ticks, slack=slack).sql("SELECT 1 AS one FROM s")
        assert len(rows(query)) == 2

    @pytest.mark.parametrize(
        ("time", "retain", "steps"),
        [
            (pa.timestamp("us"), "1 hour", 3_600_000_000),
            (pa.timestamp("us"), dt.timedelta(seconds=2), 2_000_000),
            (pa.int64(), 100, 100),
            (pa.int64(), None, None),
        ],
    )
    def test_how_long_rows_are_kept(self, time: pa.DataType, retain: Any, steps: int) -> None:
        engine = tm.Engine(runtime="inprocess")
        engine.stream("s", pa.schema([("a", pa.int64()), ("t", time)]), "t", retain=retain)
        info = engine.catalog.lookup("s")
        assert isinstance(info, SourceInfo)
        assert info.retain == steps

    def test_no_time_to_keep_rows(self) -> None:
        engine = tm.Engine(runtime="inprocess")
        with pytest.raises(tm.CatalogError, match="'1 hour' is not a duration here"):
            engine.stream("s", self.TICKS, "ts", retain="1 hour")

    @pytest.mark.parametrize("slack", ["soon", -1, "2 seconds"])
    def test_no_durations(self, slack: Any) -> None:
        with pytest.raises(tm.CatalogError, match="is not a duration here"):
            engine_of(self.TICKS, slack=slack)


class TestTypes:
    TABLE = pa.table(
        {
            "i": pa.array([1, None], pa.int32()),
            "d": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "s": ["ä🙂", None],
            "b": [True, None],
            "day": [dt.date(2026, 1, 1), None],
            "at": pa.array([dt.datetime(1999, 1, 1), None], pa.timestamp("us")),
            "l": [[1, 2], None],
            "st": [{"x": 1, "y": "a"}, None],
            "m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
            "bin": [b"\x00\xff", None],
            "ts": [1, 2],
        }
    )
    WINDOWS = ["RANGE 3", "ROWS 5", "PARTITION BY i ROWS 2", "RANGE 4 SLIDE 2", "SESSION 3"]

    @pytest.mark.parametrize("window", WINDOWS)
    def test_values_pass_through(self, window: str) -> None:
        query = engine_of(self.TABLE).sql(f"SELECT * FROM s WINDOW({window})")
        assert query is not None
        found = query.collect().drop_columns(["valid_from", "valid_to"])
        assert found.equals(self.TABLE.drop_columns(["ts"]))

    @pytest.mark.parametrize("column", [name for name in TABLE.column_names if name != "ts"])
    def test_values_tell_rows_apart(self, column: str) -> None:
        twice = pa.concat_tables([self.TABLE, self.TABLE])
        engine = engine_of(twice)
        distinct = f"SELECT DISTINCT {column} FROM s WINDOW(RANGE 3)"
        assert len(rows(engine.sql(distinct))) == 2
        counted = f"SELECT {column}, COUNT(*) AS n FROM s WINDOW(RANGE 3) GROUP BY {column}"
        assert [row[1] for row in rows(engine.sql(counted))] == [2, 2]
        nothing = (
            f"SELECT {column} FROM s WINDOW(RANGE 3) EXCEPT SELECT {column} FROM s WINDOW(RANGE 3)"
        )
        assert rows(engine.sql(nothing)) == []

    def test_aggregates_of_every_type(self) -> None:
        smallest = ", ".join(f"MIN({c}) AS {c}" for c in ("i", "d", "s", "b", "day", "at", "bin"))
        query = engine_of(self.TABLE).sql(f"SELECT {smallest} FROM s WINDOW(RANGE 2)")
        first, _, last = rows(query)
        assert first[:-2] == tuple(
            self.TABLE[c][0].as_py() for c in ("i", "d", "s", "b", "day", "at", "bin")
        )
        assert last[:-2] == (None,) * 7

    def test_any_column_name(self) -> None:
        engine = engine_of([{"größe": 1, 'a"b': 2, "sel ect": 3, "ts": 1}])
        query = engine.sql(
            'SELECT größe + 1 AS `x y`, `a"b` + `sel ect` AS s FROM s WHERE `a"b` = 2'
        )
        assert rows(query) == [(2, 5, 1, 2)]


class TestResults:
    def test_forms(self) -> None:
        query = engine_of(BIDS).sql("SELECT item FROM s WINDOW(RANGE 3)")
        assert query is not None
        assert rows(query) == [(1, 1, 4), (2, 2, 5), (1, 4, 7)]
        assert rows(query, coalesce=True) == [(1, 1, 7), (2, 2, 5)]
        assert [tuple(r.values()) for r in query.changes().to_pylist()] == [
            (1, 1, "+"), (2, 2, "+"), (2, 5, "-"), (1, 7, "-"),
        ]  # fmt: skip
        with pytest.raises(tm.TidemillError, match="a column `change`, which the log"):
            engine_of([{"change": 1, "ts": 1}]).sql("SELECT * FROM s").changes()  # type: ignore[union-attr]
        assert query.snapshot(4).to_pylist() == [{"item": 1}, {"item": 2}]
        assert query.snapshot(100).num_rows == 0

    def test_ticks_tell_what_became_known(self) -> None:
        ticks = [pa.Table.from_pylist(BIDS[:2]), pa.Table.from_pylist(BIDS[2:])]
        query = engine_of(ticks).sql("SELECT COUNT(*) AS n FROM s WINDOW(RANGE 2)")
        assert query is not None
        found = [[tuple(r.values()) for r in tick.to_pylist()] for tick in query.ticks()]
        # At the watermark 2 another row of instant 2 may still come, so nothing is settled yet.
        assert found == [[], [(1, 1, 2), (2, 2, 3), (1, 3, 4), (1, 4, 6)]]

    @pytest.mark.parametrize(
        "source", [pl.DataFrame(BIDS).clear(), [pl.DataFrame(BIDS).clear()] * 3]
    )
    def test_nothing_in_nothing_out(self, source: Any) -> None:
        query = engine_of(source).sql(
            "SELECT item, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY item"
        )
        assert query is not None
        assert query.collect().num_rows == 0
        assert query.collect().schema.names == ["item", "n", "valid_from", "valid_to"]
        assert query.changes().num_rows == 0

    def test_progress(self) -> None:
        query = engine_of(BIDS).sql("SELECT item FROM s WINDOW(RANGE 3) WHERE item = 1")
        assert query is not None
        assert query.progress.ticks == 0
        query.collect()
        progress = query.progress
        assert (progress.ticks, progress.rows_in, progress.rows_out) == (1, 3, 2)
        assert any(
            o.operator.startswith("FilterExec") and o.rows_out == 2 for o in progress.operators
        )

    def test_explain(self) -> None:
        query = engine_of(BIDS).sql("SELECT item FROM s WINDOW(RANGE 3)")
        assert query is not None
        assert query.explain("logical").splitlines()[1].startswith("01 Project [item")
        assert query.explain("optimized").splitlines()[1] == "01 TimeWindow range=3"
        assert query.explain("physical").splitlines()[1] == "01 TimeWindowExec range=3"
        with pytest.raises(tm.TidemillError, match="no plan `kosts`"):
            query.explain("kosts")


class TestOptimizer:
    SQL = "SELECT item FROM (SELECT * FROM s WINDOW(RANGE 3)) WHERE price > 2"

    def explained(self, level: str, **options: Any) -> list[str]:
        engine = tm.Engine(runtime="inprocess", **options)
        engine.stream("s", BIDS, time="ts")
        query = engine.sql(self.SQL)
        assert query is not None
        return query.explain(level).splitlines()

    def test_verbose_names_the_rules_that_applied(self) -> None:
        lines = self.explained("verbose")
        assert lines[0] == "verbose"
        assert "push_filters: Filter as early as possible" in lines
        assert any(line.startswith("unchanged by simplify_filters, ") for line in lines)

    def test_off(self) -> None:
        written = self.explained("optimized", optimizer=False)
        assert written[1:] == self.explained("logical")[1:] != self.explained("optimized")[1:]
        assert self.explained("verbose", optimizer=False)[-1].startswith("not used: simplify_")

    def test_without_some_rules(self) -> None:
        lines = self.explained("verbose", optimizer={"push_filters"})
        assert lines[-1] == "not used: push_filters"
        assert not any(line.startswith("push_filters:") for line in lines)

    def test_unknown_rule(self) -> None:
        with pytest.raises(tm.TidemillError, match="no rule `pull_filters` to leave out"):
            tm.Engine(runtime="inprocess", optimizer=["pull_filters"])


class TestFunctions:
    def test_scalar(self) -> None:
        engine = engine_of(BIDS)
        engine.function("twice", lambda x: 2 * x, returns="DOUBLE")
        assert rows(engine.sql("SELECT TWICE(twice(price)) AS p FROM s WHERE twice(item) = 4")) == [
            (22.0, 2, 3)
        ]

    def test_aggregate(self) -> None:
        engine = engine_of(BIDS)
        engine.aggregate(
            "spread",
            init=lambda x: (x, x),
            merge=lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
            eval=lambda pair: pair[1] - pair[0],
            returns="DOUBLE",
        )
        assert rows(engine.sql("SELECT SPREAD(price) AS p FROM s WINDOW(RANGE 3)")) == [
            (0.0, 1, 2), (4.5, 2, 4), (6.5, 4, 5), (0.0, 5, 7),
        ]  # fmt: skip

    def test_their_errors_name_them(self) -> None:
        engine = engine_of(BIDS)
        engine.function("broken", lambda x: 1 / 0, returns="INT")
        engine.aggregate("bad", init=int, merge=max, eval=lambda x: x.nope, returns="INT")
        for sql in (
            "SELECT broken(item) AS x FROM s",
            "SELECT bad(item) AS x FROM s WINDOW(ROWS 2)",
        ):
            query = engine.sql(sql)
            assert query is not None
            with pytest.raises(tm.ExecutionError, match=r"(?i)broken|bad"):
                query.collect()

    def test_a_type_must_be_known(self) -> None:
        with pytest.raises(tm.TidemillError, match="unknown type `WHOLE`"):
            tm.Engine(runtime="inprocess").function("f", str, returns="WHOLE")


class TestExpressionErrors:
    @pytest.mark.parametrize(
        ("expression", "reason"),
        [
            ("item / (item - 1)", "division by zero"),
            ("item % 0", "division by zero"),
            ("CAST('x' AS INT)", "cannot cast a text to INT: x"),
            ("9223372036854775807 + item", "Overflow"),
        ],
    )
    def test_as_spark_does_by_default(self, expression: str, reason: str) -> None:
        query = engine_of(BIDS).sql(f"SELECT {expression} AS x FROM s")
        assert query is not None
        with pytest.raises(tm.ExecutionError, match=reason):
            query.collect()

    def test_sums_that_do_not_fit(self) -> None:
        query = engine_of([{"v": 2**62, "ts": t} for t in (1, 2)]).sql(
            "SELECT SUM(v) AS x FROM s WINDOW(RANGE 5)"
        )
        assert query is not None
        with pytest.raises(tm.ExecutionError, match="too large for BIGINT"):
            query.collect()

    def test_sums_of_doubles_are_exact(self) -> None:
        values = [0.1] * 10 + [1e16, -1e16]
        data = [{"v": v, "ts": t} for t, v in enumerate(values)]
        query = engine_of(data).sql("SELECT SUM(v) AS x FROM s WINDOW(RANGE 100)")
        assert rows(query)[len(values) - 1][0] == 1.0
        assert rows(query)[-1] == (-1e16, 110, 111)


class TestStatements:
    def test_scripts(self) -> None:
        engine = engine_of(BIDS)
        query = engine.sql(
            "CREATE STREAM cheap AS SELECT * FROM s WHERE price < 11; -- a derived stream\n"
            "SELECT COUNT(*) AS n FROM cheap WINDOW(RANGE 5)"
        )
        assert rows(query) == [(1, 1, 2), (2, 2, 6), (1, 6, 7)]

    def test_drop(self) -> None:
        engine = engine_of(BIDS)
        engine.sql("CREATE STREAM cheap AS SELECT * FROM s WHERE price < 11")
        with pytest.raises(tm.CatalogError, match="cannot drop stream `s`: `cheap` depends on it"):
            engine.sql("DROP STREAM s")
        assert engine.sql("DROP STREAM cheap; DROP STREAM s; DROP STREAM IF EXISTS s") is None
        with pytest.raises(tm.TidemillError, match="unknown stream or relation `s`"):
            engine.sql("SELECT * FROM s")

    def test_relations(self) -> None:
        engine = engine_of(BIDS)
        engine.relation("item", [{"id": 1, "name": "vase"}])
        engine.relation(
            "rate", [{"x": 2.0, "a": 0, "b": 2}, {"x": 3.0, "a": 2, "b": None}], ("a", "b")
        )
        sql = "SELECT name, price * x AS p FROM s, item, rate WHERE s.item = id"
        assert rows(engine.sql(sql)) == [("vase", 20.0, 1, 2), ("vase", 36.0, 4, 5)]

    def test_results_go_to_files(self, tmp_path: Any) -> None:
        text = f"INSERT INTO parquet(path => '{tmp_path}') SELECT item FROM s"
        query = engine_of(BIDS).sql(text)
        assert query is not None
        assert query.start().await_termination(30)
        found = pl.read_parquet(tmp_path / "**" / "*.parquet").sort("valid_from").rows()
        assert found == rows(engine_of(BIDS).sql("SELECT item FROM s"))

    @pytest.mark.parametrize(
        ("sink", "message"),
        [
            ("mars(path => 'x')", "in this process, results cannot go to mars"),
            ("parqet(path => 'x')", "did you mean parquet?"),
            ("parquet(compression => 'zstd')", "the sink parquet needs a path"),
        ],
    )
    def test_sinks_that_there_are_not(self, sink: str, message: str) -> None:
        query = engine_of(BIDS).sql(f"INSERT INTO {sink} SELECT * FROM s")
        assert query is not None
        with pytest.raises(tm.TidemillError, match=re.escape(message)):
            query.start()

    def test_the_runtime_is_spark_unless_said_otherwise(self) -> None:
        assert tm.Engine()._environment.on_spark  # which is started when it is needed
        with pytest.raises(tm.UnsupportedError, match="no runtime `mars`"):
            tm.Engine(runtime="mars")
        with pytest.raises(tm.UnsupportedError, match="uses no Spark session"):
            tm.Engine(runtime="inprocess", spark=object())  # type: ignore[arg-type]

    def test_warnings_are_shown_once_and_kept(self) -> None:
        engine = engine_of(BIDS)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            query = engine.sql("SELECT COUNT(*) AS n FROM s")
        assert query is not None
        assert [str(w.message) for w in caught] == [str(w) for w in query.warnings]
        assert len(query.warnings) == 1


class TestFiles:
    COLUMNS = "(item BIGINT, price DOUBLE, ts BIGINT)"

    @pytest.mark.parametrize("format", ["parquet", "csv", "json"])
    @pytest.mark.parametrize(("limit", "ticks"), [("", 1), (", maxFilesPerTrigger => 1", 2)])
    def test_files_are_read(self, tmp_path: Any, format: str, limit: str, ticks: int) -> None:
        for number, part in enumerate((BIDS[:2], BIDS[2:])):
            frame, path = pl.DataFrame(part), tmp_path / f"{number}.{format}"
            {"parquet": frame.write_parquet, "csv": frame.write_csv, "json": frame.write_ndjson}[
                format
            ](path)
        query = tm.Engine(runtime="inprocess").sql(
            f"CREATE STREAM s {self.COLUMNS} SOURCE {format}(path => '{tmp_path}'{limit}) "
            "ORDERED BY ts; SELECT item, COUNT(*) AS n FROM s WINDOW(RANGE 5) GROUP BY item"
        )
        assert rows(query) == [(1, 1, 1, 4), (2, 1, 2, 7), (1, 2, 4, 6), (1, 1, 6, 9)]
        assert query is not None
        assert query.progress.ticks == ticks

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("csv(path => 'nowhere/*.csv')", "no files for `s`"),
            ("csv(header => true)", "needs the option path"),
            ("delta(path => 'x')", "which only Spark reads"),
            ("kafka(topic => 'x')", "needs the option servers"),
        ],
    )
    def test_sources_that_cannot_be_read(self, source: str, message: str) -> None:
        query = tm.Engine(runtime="inprocess").sql(
            f"CREATE STREAM s {self.COLUMNS} SOURCE {source} ORDERED BY ts; SELECT item FROM s"
        )
        assert query is not None
        with pytest.raises(tm.TidemillError, match=message):
            query.collect()

    def test_without_a_header_columns_are_in_the_declared_order(self, tmp_path: Any) -> None:
        (tmp_path / "a.csv").write_text("3,7,1.5\n", "utf-8")
        query = tm.Engine(runtime="inprocess").sql(
            "CREATE STREAM s (ts BIGINT, item BIGINT, price DOUBLE) "
            f"SOURCE csv(path => '{tmp_path}', header => FALSE) ORDERED BY ts;"
            "SELECT item, price FROM s"
        )
        assert rows(query) == [(7, 1.5, 3, 4)]

    def test_files_with_other_columns(self, tmp_path: Any) -> None:
        (tmp_path / "a.csv").write_text("x,y\n1,2\n", "utf-8")
        query = tm.Engine(runtime="inprocess").sql(
            f"CREATE STREAM s {self.COLUMNS} SOURCE csv(path => '{tmp_path}') ORDERED BY ts;"
            "SELECT item FROM s"
        )
        assert query is not None
        with pytest.raises(tm.ExecutionError, match=r"cannot read a\.csv of `s` as csv"):
            query.collect()
