"""A graph on Spark to which queries are added and from which they are removed, and its answers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.spark.driving import query_of

import tidemill as tm
from tidemill.analyze import SourceInfo
from tidemill.graph.query_graph import QueryGraph
from tidemill.runtime.interface import Job, SinkRequest
from tidemill.runtime.spark.live import LiveRun
from tidemill.timeline import BEGIN

COUNTS = "SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 10) GROUP BY k"
QUERIES = [
    COUNTS,
    f"SELECT k, n FROM ({COUNTS}) AS c WHERE n > 2",
    f"SELECT n, COUNT(*) AS m FROM ({COUNTS}) AS c GROUP BY n",
    "SELECT s.k, s.v, t.v AS w FROM s WINDOW(RANGE 3), t WINDOW(RANGE 5) WHERE s.k = t.k",
    f"SELECT c.k, n, t.v FROM ({COUNTS}) AS c, t WINDOW(RANGE 2) WHERE c.k = t.k",
    f"SELECT c.k, n, name FROM ({COUNTS}) AS c, label WHERE c.k = label.k",
    "SELECT t.k, v, name FROM t WINDOW(RANGE 4), label WHERE t.k = label.k",
    "SELECT COUNT(*) AS n, MAX(v) AS top FROM s WINDOW(RANGE 4) WHERE v > 3",
    "SELECT DISTINCT k FROM t WINDOW(RANGE 6)",
    "SELECT k, v + 1 AS v FROM s WHERE v > 5",
    "SELECT k, v FROM s WINDOW(RANGE 7) ORDER BY v DESC, k LIMIT 2",
    "SELECT s.v, t.v AS w FROM s WINDOW(RANGE 2), t WINDOW(RANGE 2) WHERE s.v < t.v",
]
END = 99
"""An instant at which nothing holds any more."""

LABELS = [{"k": k, "name": f"label {k}"} for k in (0, 1, 1, 3)]


def random_rows(random: Random, ticks: int, per_tick: int) -> list[dict[str, pa.Table]]:
    """What two streams bring with every tick."""

    def rows(tick: int, count: int) -> pa.Table:
        times = sorted(random.randrange(12 * tick, 12 * tick + 12) for _ in range(count))
        return pa.Table.from_pylist(
            [{"k": random.randrange(4), "v": random.randrange(9), "at": at} for at in times]
        )

    return [{"s": rows(n, per_tick), "t": rows(n, per_tick // 2)} for n in range(ticks)]


@dataclass
class Answers:
    """What a query gave: its rows, and for which instants they are complete."""

    sql: str
    since: int
    until: int = BEGIN
    rows: list[pa.Table] = field(default_factory=list)


class LiveGraph:
    """Streams of files, and a graph over them."""

    def __init__(self, session: SparkSession, work: Path, checkpoint: str | None = None) -> None:
        self.engine = tm.Engine(spark=session, partitions=2)
        self._work = work
        for name in ("s", "t"):
            (work / name).mkdir(parents=True, exist_ok=True)
            self.engine.sql(
                f"CREATE STREAM {name} (k BIGINT, v BIGINT, at BIGINT) "
                f"SOURCE parquet(path => '{work / name}') ORDERED BY at"
            )
        self.engine.relation("label", LABELS)
        streams = {name: self._origin(name) for name in ("s", "t")}
        self.run = LiveRun(session, streams, self._origin, 2, checkpoint)
        self.graph = QueryGraph(self.run)
        self.answers: dict[str, Answers] = {}
        self.files = len(list((work / "s").glob("*.parquet")))

    def _origin(self, name: str) -> Any:
        info = self.engine.catalog.lookup(name)
        assert isinstance(info, SourceInfo)
        return self.engine._sources.origin(info)

    def job(self, sql: str, sink: SinkRequest) -> Job:
        return replace(query_of(self.engine, sql).job, sink=sink)

    def add(self, name: str, sql: str) -> Answers:
        """Let a query run whose answers are kept."""
        kept: list[pa.Table] = []
        sink = SinkRequest(lambda rows, tick: kept.append(rows))
        query = self.graph.add(name, self.job(sql, sink), meaning=sql)
        self.answers[name] = Answers(sql, query.complete_from, rows=kept)
        return self.answers[name]

    def go_on(self, before: LiveGraph) -> None:
        """Take up the queries of a graph that was left."""
        for name, answers in before.answers.items():
            since = answers.since
            self.add(name, answers.sql).rows[:0] = answers.rows
            assert self.answers[name].since == since

    def remove(self, name: str) -> Answers:
        """Let a query go; what it gave is complete up to its watermark."""
        with self.run.lock:
            plan = self.graph.find(name).job.plan
            self.answers[name].until = self.run.nodes[plan].watermark
            self.graph.remove(name)
        return self.answers.pop(name)

    def end(self) -> list[Answers]:
        """Let time pass until nothing is held back; all answers are complete then."""
        for name in ("s", "t"):
            self.run.heartbeat(name, END)
        self.run.process_all_available()
        self.run.stop()
        return [replace(answers, until=END) for answers in self.answers.values()]

    def bring(self, rows: dict[str, pa.Table]) -> None:
        """Let the streams have new rows, and wait until they are read."""
        for name, table in rows.items():
            temporary = self._work / f".{name}"
            pq.write_table(table, temporary)
            os.rename(temporary, self._work / name / f"{self.files:04d}.parquet")
        self.files += 1
        self.run.process_all_available()


def check(answers: Answers, brought: Sequence[dict[str, pa.Table]]) -> None:
    """Fail unless a query gave what it gives alone, at every instant for which it answers."""
    engine = tm.Engine("inprocess")
    for name in ("s", "t"):
        engine.stream(name, [tick[name] for tick in brought], time="at")
    engine.relation("label", LABELS)
    alone = query_of(engine, answers.sql).collect()
    found = pa.concat_tables(answers.rows) if answers.rows else alone.slice(0, 0)
    for instant in range(END):
        wanted = snapshot(alone, instant) if instant >= answers.since else Counter()
        given = snapshot(found, instant)
        assert given <= wanted, f"{answers.sql} at {instant}: too much"
        assert instant >= answers.until or given == wanted, (
            f"{answers.sql} at {instant}: too little"
        )


def snapshot(table: pa.Table, at: int) -> Counter[str]:
    """The rows that hold at an instant."""
    held: Counter[str] = Counter()
    for row in table.to_pylist():
        start, end = row.pop("valid_from"), row.pop("valid_to")
        if start <= at and (end is None or at < end):
            held[str(sorted(row.items()))] += 1
    return held
