"""A server that is down at the start, restarts in the middle, or is gone."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import Replay, source_of
from tests.connectors.postgres.server import PASSWORD
from tidemill.errors import ExecutionError

TABLE = "CREATE TABLE t (k int, v text)"


def test_down_at_the_start(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    database.run(TABLE)
    database.server.stop()
    began = time.monotonic()
    with (
        caplog.at_level(logging.WARNING, "tidemill.connectors.postgres"),
        pytest.raises(ExecutionError, match="cannot be used for 1 s") as caught,
    ):
        source_of(database, retry="1 second")
    assert time.monotonic() - began < 3
    assert database.place in caught.value.message
    assert "nothing is lost" in (caught.value.help or "")
    assert caplog.messages
    for text in (str(caught.value), *caplog.messages):
        assert PASSWORD not in text


def test_up_a_little_later(database: Database) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a')")
    database.server.stop()
    later = threading.Timer(0.4, database.server.start)
    later.start()
    assert list(Replay(source_of(database)).rows) == [(1, "a")]
    later.join()


def test_restarted_in_the_middle(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    database.run("INSERT INTO t VALUES (1, 'a')")
    database.server.stop()
    later = threading.Timer(0.4, database.server.start)
    later.start()
    assert replay.poll() == [(1, (1, "a"))]
    later.join()
    database.run("INSERT INTO t VALUES (2, 'b')")
    assert replay.poll() == [(1, (2, "b"))]


def test_gone_while_it_is_being_read(database: Database) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a')")
    source = source_of(database)
    other = database.connect()
    other.execute("BEGIN")
    other.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")  # so that reading waits in the middle
    found: list[Replay] = []
    reading = threading.Thread(target=lambda: found.append(Replay(source)))
    reading.start()
    _wait_for_lock(database)
    database.server.stop()
    other.close()
    database.server.start()
    reading.join()
    assert list(found[0].rows) == [(1, "a")]


def _wait_for_lock(database: Database) -> None:
    while database.run("SELECT count(*) FROM pg_locks WHERE NOT granted") == [(0,)]:
        time.sleep(0.01)


def test_gone_for_good(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database, retry="0.5 seconds"))
    database.run("INSERT INTO t VALUES (1, 'a')")
    position = replay.position
    database.server.stop()
    with pytest.raises(ExecutionError, match="cannot be used"):
        replay.poll()
    assert replay.position == position
    database.server.start()
    assert replay.poll() == [(1, (1, "a"))]


@pytest.mark.parametrize("wrong", [{"password": "wrong"}, {"dbname": "nowhere"}, {"user": "no"}])
def test_what_waiting_does_not_cure(database: Database, wrong: dict[str, str]) -> None:
    began = time.monotonic()
    with pytest.raises(ExecutionError, match=r"authentication failed|does not exist"):
        source_of(database, retry="1 minute", **wrong)
    assert time.monotonic() - began < 5


def test_a_standby_is_refused_until_it_takes_over(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    database.run("INSERT INTO t VALUES (1, 'a')")
    database.server.stand_by()
    with pytest.raises(ExecutionError, match="is a standby"):
        replay.poll()
    database.server.promote()
    assert replay.poll() == [(1, (1, "a"))]
