"""Many transactions at once: every committed change is seen once, whenever one looks."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from itertools import count

import psycopg
import pyarrow as pa
import pytest

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import Replay, source_of, table_rows

WRITERS = 6
TRANSACTIONS = 15


class Writer(threading.Thread):
    """Changes rows in transactions of all lengths; knows which of its changes were committed.

    Every row bears a stamp that no other has, so that changes can be told apart.
    """

    stamps = count()

    def __init__(self, database: Database, seed: int) -> None:
        super().__init__()
        self._database = database
        self._random = random.Random(seed)
        self.committed: list[tuple[int, int]] = []

    def run(self) -> None:
        with self._database.connect() as connection:
            for _ in range(TRANSACTIONS):
                done: list[tuple[int, int]] = []
                try:
                    with connection.transaction():
                        done = self._transaction(connection)
                except (psycopg.errors.DeadlockDetected, psycopg.Rollback):
                    continue
                self.committed += done

    def _transaction(self, connection: psycopg.Connection) -> list[tuple[int, int]]:
        done: list[tuple[int, int]] = []
        for _ in range(self._random.randint(1, 5)):
            with connection.transaction() as savepoint:
                changes = self._change(connection)
                if self._random.random() < 0.15:
                    raise psycopg.Rollback(savepoint)
                done += changes
            if self._random.random() < 0.3:
                time.sleep(self._random.uniform(0, 0.06))
        if self._random.random() < 0.15:
            raise psycopg.Rollback
        return done

    def _change(self, connection: psycopg.Connection) -> list[tuple[int, int]]:
        key, stamp = self._random.choice([None, *range(8)]), next(self.stamps)
        kind = self._random.choice(["insert", "insert", "update", "delete"])
        if kind == "insert":
            connection.execute("INSERT INTO t VALUES (%s, %s)", [key, stamp])
            return [(1, stamp)]
        # One row, so that a stamp stays the stamp of one row.
        one = "ctid IN (SELECT ctid FROM t WHERE k IS NOT DISTINCT FROM %s LIMIT 1 FOR UPDATE)"
        found = connection.execute(f"SELECT stamp FROM t WHERE {one}", [key]).fetchall()
        if kind == "delete":
            deleted = connection.execute(
                f"DELETE FROM t WHERE {one} RETURNING stamp", [key]
            ).fetchall()
            return [(-1, old) for (old,) in deleted]
        if not found:
            return []
        old = found[0][0]
        updated = connection.execute("UPDATE t SET stamp = %s WHERE stamp = %s", [stamp, old])
        return [(-1, old), (1, stamp)] if updated.rowcount else []


@pytest.mark.parametrize("seed", range(3))
def test_every_committed_change_once(database: Database, seed: int) -> None:
    types = {"k": pa.int32(), "stamp": pa.int64()}
    database.run("CREATE TABLE t (k int, stamp bigint)", "INSERT INTO t VALUES (1, -1), (1, -2)")
    chosen = random.Random(seed)
    replay = Replay(source_of(database, types=types))
    before = set(replay.rows)
    writers = [Writer(database, 100 * seed + number) for number in range(WRITERS)]
    with database.connect() as long:
        long.execute("BEGIN")
        long.execute("INSERT INTO t VALUES (99, -3)")
        for writer in writers:
            writer.start()
        second = None
        while any(writer.is_alive() for writer in writers):
            time.sleep(chosen.uniform(0, 0.05))
            replay.poll()
            if chosen.random() < 0.3:  # another process goes on where this one was
                replay.source = source_of(database, types=types)
            if second is None and chosen.random() < 0.1:  # somebody who begins in the middle
                second = Replay(source_of(database, types=types))
        for writer in writers:
            writer.join()
        long.execute("COMMIT")
    replay.poll()
    assert replay.poll() == []
    wanted = [change for writer in writers for change in writer.committed] + [(1, -3)]
    assert Counter((op, row[1]) for op, row in replay.seen) == Counter(wanted)
    assert set(replay.rows) >= before - {row for op, row in replay.seen if op < 0}
    assert +replay.rows == table_rows(database)
    if second is not None:
        second.poll()
        assert +second.rows == table_rows(database)


def test_who_begins_while_others_truncate(database: Database) -> None:
    """TRUNCATE is not bound to snapshots, so content must not be read while it is under way."""
    database.run("CREATE TABLE t (k int, v text)")
    source = source_of(database)
    done = threading.Event()

    def churn() -> None:
        with database.connect() as connection:
            while not done.is_set():
                with connection.transaction():
                    connection.execute("INSERT INTO t SELECT n, 'x' FROM generate_series(1, 20) n")
                with connection.transaction():
                    connection.execute("TRUNCATE t")

    writer = threading.Thread(target=churn)
    writer.start()
    replays = []
    try:
        for _ in range(20):
            replays.append(Replay(source))
            replays[-1].poll()
    finally:
        done.set()
        writer.join()
    for replay in replays:
        replay.poll()
        assert +replay.rows == table_rows(database)


def test_two_that_begin_to_watch_at_once(database: Database) -> None:
    database.run("CREATE TABLE t (k int, v text)")
    threads = [threading.Thread(target=source_of, args=(database,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert database.run("SELECT count(*) FROM tidemill_log_t") == [(1,)]
    assert database.run("SELECT count(*) FROM pg_trigger") == [(2,)]
