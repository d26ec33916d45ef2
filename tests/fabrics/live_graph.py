"""A graph to which queries are added and from which they are removed, and its answers."""

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

import tidemill as tm
from tests.fabrics.answers import Results, query_of
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
    "SELECT k, v FROM s WINDOW(RANGE 3) UNION ALL SELECT k, v FROM t WINDOW(RANGE 3)",
    "SELECT k, name FROM label",
]
END = 99
"""An instant at which nothing holds any more."""

LABELS = [{"k": k, "name": f"label {k}"} for k in (0, 1, 1, 3)]

Tick = dict[str, pa.Table]
"""What two streams bring."""


def random_rows(random: Random, ticks: int, per_tick: int) -> list[Tick]:
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
    results: Results = field(default_factory=Results)


def declare(engine: tm.Engine, work: Path) -> None:
    """A stream of files, one into which rows are pushed, and a relation."""
    (work / "s").mkdir(parents=True, exist_ok=True)
    engine.sql(f"""
        CREATE STREAM s (k BIGINT, v BIGINT, at BIGINT)
        SOURCE parquet(path => '{work}/s') ORDERED BY at;
        CREATE STREAM t (k BIGINT, v BIGINT, at BIGINT) ORDERED BY at
    """)
    engine.relation("label", LABELS)


def bring_file(work: Path, table: pa.Table, number: int) -> None:
    """Let the stream of files have a new one."""
    temporary = work / f".{number}"
    pq.write_table(table, temporary)
    os.rename(temporary, work / "s" / f"{number:04d}.parquet")


class LiveGraph:
    """A graph over streams, whose ticks are made by hand."""

    def __init__(self, engine: tm.Engine, work: Path) -> None:
        self.engine = engine
        self._work = work
        declare(engine, work)
        self.graph = engine.run(checkpoint=str(work / "checkpoint"), every=None)
        self.answers: dict[str, Answers] = {}

    def add(self, name: str, sql: str, results: Results | None = None) -> Answers:
        """Let a query run whose answers are kept."""
        kept = results or Results()
        started = query_of(self.engine, sql).start(kept, name=name)
        self.answers[name] = Answers(sql, started.complete_from, results=kept)
        return self.answers[name]

    def restarted(self, engine: tm.Engine) -> LiveGraph:
        """The graph after a stop, with the queries that it had."""
        self.engine.close()
        other = LiveGraph(engine, self._work)
        for name, answers in self.answers.items():
            assert other.add(name, answers.sql, answers.results).since == answers.since
        return other

    def remove(self, name: str) -> Answers:
        """Let a query go; what it gave is complete up to its watermark."""
        graph = self.graph
        with graph.lock:
            plan = graph.members[name].job.plan
            self.answers[name].until = graph.operators[plan].watermark
            self.graph.query(name).stop()
        return self.answers.pop(name)

    def bring(self, rows: Tick, number: int) -> None:
        """Let the streams have new rows, and make ticks until they are read."""
        bring_file(self._work, rows["s"], number)
        self.engine.push("t", rows["t"])
        self.graph.process_all_available()

    def end(self) -> list[Answers]:
        """Let time pass until nothing is held back; all answers are complete then."""
        for name in ("s", "t"):
            self.graph.heartbeat(name, END)
        self.graph.process_all_available()
        self.engine.close()
        return [replace(answers, until=END) for answers in self.answers.values()]


def check(answers: Answers, brought: Sequence[Tick]) -> None:
    """Fail unless a query gave what it gives alone, at every instant for which it answers."""
    alone = tables_of(answers.sql, brought)
    ticks = list(answers.results.ticks.values())
    found = pa.concat_tables(ticks) if ticks else alone.slice(0, 0)
    for instant in range(END):
        wanted = snapshot(alone, instant) if instant >= answers.since else Counter[Any]()
        given = snapshot(found, instant)
        assert given <= wanted, f"{answers.sql} at {instant}: too much"
        assert instant >= answers.until or given == wanted, (
            f"{answers.sql} at {instant}: too little"
        )


def tables_of(sql: str, brought: Sequence[Tick]) -> pa.Table:
    """The answers of a query that runs alone, over all rows."""
    engine = tm.Engine("inprocess")
    for name in ("s", "t"):
        engine.stream(name, [tick[name] for tick in brought], time="at")
    engine.relation("label", LABELS)
    return query_of(engine, sql).collect()


def snapshot(table: pa.Table, at: int) -> Counter[str]:
    """The rows that hold at an instant."""
    held: Counter[str] = Counter()
    for row in table.to_pylist():
        start, end = row.pop("valid_from"), row.pop("valid_to")
        if start <= at and (end is None or at < end):
            held[str(sorted(row.items()))] += 1
    return held
