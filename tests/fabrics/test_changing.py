"""Relations that change while queries run: what their leaves see, tick by tick."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.checking.sources import opener
from tests.fabrics.answers import net_changes, query_of
from tests.fabrics.ground import Ground, everywhere
from tests.runtime.change_sources import SCHEMA, Script
from tidemill.algebra import VERSION, Field, Scan, Schema, SourceKind
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import ChangeSource
from tidemill.connectors.feeds import PushedFeed
from tidemill.connectors.sinks import SinkRequest
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.interface import Job, Root
from tidemill.runtime.progress import RelationProgress
from tidemill.runtime.relations import LocalRelation
from tidemill.runtime.run import Run
from tidemill.runtime.sources import ChangingSource, StreamSource
from tidemill.store import Store
from tidemill.timeline import TimeDomain

LEAF = Schema((*SCHEMA, Field(VERSION, pa.int64())))
RELATION = SourceExec(Scan("r", "r", LEAF, SourceKind.CHANGING))
STREAM = SourceExec(Scan("s", "s", Schema.of(v=pa.int64())))
DECLARED = Schema.of(v=pa.int64(), at=pa.int64())
STREAM_INFO = SourceInfo(
    "s",
    STREAM.scan.columns,
    domain=TimeDomain.TICKS,
    time_column="at",
    time_type=pa.int64(),
    declared=DECLARED,
)
RELATION_INFO = SourceInfo("r", SCHEMA, SourceKind.CHANGING, None, declared=SCHEMA)


class Results:
    """A sink that keeps what it is given, and fails once at a tick if it should."""

    def __init__(self) -> None:
        self.ticks: dict[int, list[tuple[Any, ...]]] = {}
        self.tables: dict[int, pa.Table] = {}
        self.fails_at = -1

    def __call__(self, rows: pa.Table, tick: int) -> None:
        found = sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)
        self.tables[tick] = rows
        assert self.ticks.setdefault(tick, found) == found, "a tick done again sees the same"
        if tick == self.fails_at:
            self.fails_at = -1
            raise RuntimeError("the sink is broken")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """By tick, and by the number of the version."""
        ticks = (self.ticks[tick] for tick in sorted(self.ticks))
        return [row for rows in ticks for row in sorted(rows, key=lambda row: int(row[2]))]


class Watching:
    """A run that looks at a relation, and perhaps at a stream of instants besides."""

    def __init__(
        self,
        fabric: Ground,
        results: Results,
        source: ChangeSource,
        place: Path,
        stream: bool = True,
    ) -> None:
        store = Store(str(place))
        sources: dict[str, Any] = {"r": ChangingSource(RELATION_INFO, source)}
        roots = {"r": Root(Job(RELATION, TimeDomain.TICKS, SinkRequest(results)))}
        self._pushed = PushedFeed("s", DECLARED, store)
        if stream:
            sources["s"] = StreamSource(STREAM_INFO, self._pushed)
            roots["s"] = Root(Job(STREAM, TimeDomain.TICKS, SinkRequest("memory")))
        self.run = Run(fabric.make(2), opener(sources), store, ends_with_queries=True)
        self.run.revise(roots, {})

    def tick(self, *instants: int) -> None:
        """A tick with rows of these instants."""
        if instants:
            self._pushed.push(pa.table({"v": instants, "at": instants}))
        self.run.tick()

    @property
    def progress(self) -> RelationProgress:
        found = self.run.sources["r"]
        assert isinstance(found, RelationProgress)
        return found


def relation_of(*rows: tuple[Any, Any]) -> LocalRelation:
    return LocalRelation(SCHEMA, lambda: table_of(*rows))


def table_of(*rows: tuple[Any, Any]) -> pa.Table:
    records = [dict(zip(SCHEMA.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(records, schema=SCHEMA.to_arrow())


@everywhere
def test_changes_while_a_query_runs(fabric: Ground, tmp_path: Path) -> None:
    relation = relation_of((1, "ä"), (1, "ä"), (None, None))
    relation.insert(table_of((2, "soon")), at=5)
    results = Results()
    watching = Watching(fabric, results, relation.follow(), tmp_path)
    watching.tick(1, 3)
    first = [(1, "ä", 0, 0, None), (1, "ä", 1, 0, None), (None, None, 2, 0, None)]
    assert results.rows == [*first, (2, "soon", 3, 5, None)]
    watching.tick(12)
    relation.delete(lambda rows: rows["k"].is_null().to_numpy())
    relation.insert(table_of((3, "水 🌊")), at=40)
    relation.insert(table_of((4, "")), at=2)
    watching.tick()
    assert results.rows[4:] == [
        (None, None, 2, 13, 13),
        (3, "水 🌊", 4, 40, None),
        (4, "", 5, 13, None),
    ]
    source = watching.progress
    assert (source.rows, source.held, source.changes, source.missing) == (7, 5, 3, 0)
    assert source.watermark == 13
    watching.run.stop()
    # While nothing runs, a row goes and another comes; then the stream goes on.
    relation.delete(lambda rows: (rows["k"] == 4).to_numpy())
    relation.insert(table_of((1, "ä")))
    watching = Watching(fabric, results, relation.follow(), tmp_path)
    watching.tick(20)
    assert results.rows[7:] == [(4, "", 5, 13, 13), (1, "ä", 6, 13, None)]
    relation.insert(table_of((5, "x")))
    watching.tick()
    assert results.rows[9:] == [(5, "x", 7, 21, None)]
    watching.run.stop()
    assert not relation._followers, "a run that has stopped follows no more"


def test_a_relation_without_a_stream(fabric: Ground, tmp_path: Path) -> None:
    """Every tick that brings changes is an instant."""
    relation, results = relation_of(), Results()
    watching = Watching(fabric, results, relation.follow(), tmp_path, stream=False)
    watching.tick()
    for k in (1, 2):
        relation.insert(table_of((k, "a")))
        assert watching.run.has_more
        watching.tick()
    relation.delete(lambda rows: (rows["k"] == 1).to_numpy())
    relation.delete(lambda rows: (rows["k"] == 1).to_numpy())
    watching.tick()
    assert results.rows == [(1, "a", 0, 0, None), (2, "a", 1, 1, None), (1, "a", 0, 2, 2)]
    assert watching.progress.watermark == 3
    assert not watching.run.has_more
    watching.run.stop()
    relation.insert(table_of((3, "a")))
    watching = Watching(fabric, results, relation.follow(), tmp_path, stream=False)
    watching.tick()
    assert results.rows[3:] == [(3, "a", 2, 3, None)]
    watching.run.stop()


def test_every_change_of_a_table_outside_is_seen_once(fabric: Ground, tmp_path: Path) -> None:
    """Over stops: because the sink fails, or the table, or someone wants it."""
    source, results = Script(Random(4), rows=5, length=40), Results()
    for turn in range(6):
        watching = Watching(fabric, results, source, tmp_path, stream=False)
        watching.tick()
        source.happen(4)
        if turn % 3 == 0:
            results.fails_at = max(results.ticks) + 1
            with pytest.raises(RuntimeError, match="the sink is broken"):
                watching.tick()
        elif turn % 3 == 1:
            source.is_down = True
            with pytest.raises(tm.ExecutionError, match="the table is out of reach"):
                watching.tick()
            source.is_down = False
        else:
            watching.tick()
        source.happen(3)
        watching.run.stop()
    watching = Watching(fabric, results, source, tmp_path, stream=False)
    watching.tick()
    watching.tick()
    watching.run.stop()
    ids = [row[2] for row in results.rows if row[3] != row[4]]
    assert len(set(ids)) == len(ids)
    ended = {row[2] for row in results.rows if row[3] == row[4]}
    held = Counter(row[:2] for row in results.rows if row[4] is None and row[2] not in ended)
    assert held == source.now


def test_what_is_read_can_change(fabric: Ground, tmp_path: Path) -> None:
    """Files are the rows at first; they are read when they are needed."""
    engine = fabric.engine()
    engine.relation("r", table_of((1, "a")), changing=True)
    (tmp_path / "past.csv").write_text("k,since,until\n1,2,\n2,3,9\n")
    engine.sql(
        f"CREATE RELATION past (k BIGINT, since BIGINT, until BIGINT)"
        f" SOURCE csv(path => '{tmp_path}/past.csv') CHANGING FROM since TO until"
    )
    assert engine.insert("r", table_of((2, "b")), at=5) == 1
    assert engine.delete("past", "k = 1", at=8) == 1
    found = query_of(engine, "SELECT r.k, r.note FROM r, past WHERE r.k = past.k").collect()
    assert [tuple(row.values()) for row in found.to_pylist()] == [(1, "a", 2, 8), (2, "b", 5, 9)]


SPANS = [range(1, 4), range(4, 6), range(6, 9)]
QUERIES = [
    "SELECT s.v, r.note FROM s WINDOW(RANGE 3), r WHERE s.k = r.k",
    "SELECT s.v FROM s WINDOW(RANGE 3) WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = s.k)",
    "SELECT note, COUNT(*) AS n FROM r GROUP BY note",
]


@everywhere
def test_queries_see_changes_as_if_they_had_known_them(fabric: Ground, tmp_path: Path) -> None:
    """Rows of a stream and changes in turns: as if the instants of the changes had been known."""
    (tmp_path / "s").mkdir()
    engines = [fabric.engine(), Ground().engine(1)]
    for engine in engines:
        engine.relation("r", table_of((1, "a"), (2, "b"), (2, "b")), changing=True)
    ours, theirs = engines
    ours.sql(
        "CREATE STREAM s (k BIGINT, v BIGINT, at BIGINT)"
        f" SOURCE parquet(path => '{tmp_path}/s') ORDERED BY at"
    )
    rows = [[(k, 10 * at + k, at) for at in span for k in (1, 2, 3)] for span in SPANS]
    tables = [
        pa.table(dict(zip(("k", "v", "at"), zip(*r, strict=True), strict=True))) for r in rows
    ]
    theirs.stream("s", tables, time="at")
    kept = [Results() for _ in QUERIES]
    queries = [query_of(ours, sql).into(sink) for sql, sink in zip(QUERIES, kept, strict=True)]
    place = f"{tmp_path}/checkpoint"
    running = ours.start(*queries, checkpoint=place)
    for number, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{number}")
        (tmp_path / f"{number}").rename(tmp_path / "s" / f"{number}.parquet")
        running.process_all_available()
        for engine, at in ((ours, None), (theirs, SPANS[number][-1] + 1)):
            change(engine, number, at)
        running.process_all_available()
    running.stop()
    ours.start(*queries, checkpoint=place, available_now=True).await_termination()
    for sql, sink in zip(QUERIES, kept, strict=True):
        expected = query_of(theirs, sql).collect()
        assert net_changes(pa.concat_tables(sink.tables.values())) == net_changes(expected), sql


def change(engine: tm.Engine, number: int, at: int | None) -> None:
    """What happens after so many spans of the stream."""
    if number == 0:
        engine.delete("r", "k = 2", at=at)
        engine.insert("r", table_of((3, "c"), (3, "水 🌊")), at=at)
    elif number == 1:
        engine.insert("r", table_of((2, "b"), (1, "a")), at=at)
        engine.delete("r", "note = 'c'", at=at)
    elif number == 2:
        engine.delete("r", at=at)
    else:
        engine.insert("r", table_of((1, "last")), at=at)
