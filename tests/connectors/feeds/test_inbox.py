"""Rows that are pushed into a stream that several runs read, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import Feed, Inbox, read_slice
from tidemill.store import Store

SCHEMA = Schema.of(at=pa.int64())


def rows(*times: int) -> pa.Table:
    return pa.table({"at": pa.array(times, pa.int64())})


def times(feed: Feed) -> list[int]:
    slices = feed.slices(feed.first, feed.poll())
    tables = [read_slice(each, SCHEMA, ["at"], "s") for each in slices]
    return [at for table in tables for at in table.column("at").to_pylist()]


def read(feed: Feed, before: int) -> None:
    """What a run tells a feed after a tick."""
    feed.taken(before)
    feed.forget(before)


@pytest.fixture(params=["memory", "temporary"])
def store(request: pytest.FixtureRequest) -> Iterator[Store | None]:
    found = None if request.param == "memory" else Store.temporary()
    yield found
    if found is not None:
        found.close()


def test_rows_wait_for_the_first_run_that_reads_them(store: Store | None) -> None:
    inbox = Inbox("s", SCHEMA)
    inbox.push(rows(1, 2))
    assert inbox.waiting == 2
    first, second = inbox.open(store), inbox.open()
    assert (times(first), times(second)) == ([1, 2], [])


def test_no_run_takes_rows_away_from_another() -> None:
    inbox = Inbox("s", SCHEMA)
    first, second = inbox.open(), inbox.open()
    told = inbox.push(rows(1, 2))
    read(first, 1)
    assert times(second) == [1, 2]
    assert (told.rows, told.is_taken, inbox.waiting) == (2, False, 2)
    read(second, 1)
    assert (told.is_taken, inbox.waiting) == (True, 0)


def test_rows_that_are_none_are_taken_at_once() -> None:
    inbox = Inbox("s", SCHEMA)
    inbox.open()
    assert inbox.push(rows()).is_taken


def test_every_run_is_told_of_new_rows() -> None:
    inbox, told = Inbox("s", SCHEMA), []
    for name in ("first", "second"):
        inbox.open().wake = lambda name=name: told.append(name)
    inbox.push(rows(1))
    assert told == ["first", "second"]


def test_what_a_run_leaves_unread_waits_again(store: Store | None) -> None:
    inbox = Inbox("s", SCHEMA)
    feed = inbox.open(store)
    inbox.push(rows(1))
    inbox.push(rows(2))
    read(feed, 1)
    feed.close()
    if store is not None:
        store.close()
    inbox.push(rows(3))
    assert inbox.waiting == 2
    assert times(inbox.open()) == [2, 3]


def test_rows_that_are_kept_for_new_queries_were_read_all_the_same() -> None:
    inbox = Inbox("s", SCHEMA)
    feed = inbox.open()
    inbox.push(rows(1))
    feed.taken(1)  # and not forgotten
    feed.close()
    assert (inbox.waiting, times(inbox.open())) == (0, [])


def test_what_another_run_reads_too_does_not_wait() -> None:
    inbox = Inbox("s", SCHEMA)
    first, second = inbox.open(), inbox.open()
    inbox.push(rows(1))
    first.close()
    first.close()  # once is enough
    read(second, 1)
    second.close()
    assert inbox.waiting == 0


def test_a_checkpoint_keeps_its_rows_to_itself(tmp_path: Path) -> None:
    inbox = Inbox("s", SCHEMA)
    feed = inbox.open(Store(str(tmp_path / "one")))
    inbox.push(rows(1))
    feed.close()
    inbox.push(rows(2))
    assert times(inbox.open(Store(str(tmp_path / "two")))) == [2]
    assert times(Inbox("s", SCHEMA).open(Store(str(tmp_path / "one")))) == [1]


def test_a_view_takes_nothing_away() -> None:
    inbox = Inbox("s", SCHEMA)
    inbox.push(rows(1))
    assert times(inbox.view()) == [1]
    feed = inbox.open()
    view = inbox.view()
    inbox.push(rows(2))
    assert (times(view), times(feed)) == ([1], [1, 2])
