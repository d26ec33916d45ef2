"""Results in memory: whole, bounded, and readable while they come."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.connectors.sinks.rows import FORMS, LOOKS, NAMES, SCHEMA, TWO, given, rows, tuples
from tidemill.connectors.sinks import FormShape, MemorySink
from tidemill.errors import ExecutionError


def sink(form: str = "intervals", **options: Any) -> MemorySink:
    return MemorySink(FormShape(form, SCHEMA), options)


@pytest.mark.parametrize("form", FORMS)
def test_it_has_its_columns_before_the_first_tick(form: str) -> None:
    memory = sink(form)
    assert memory.form == form
    assert memory.results().column_names == NAMES[form]
    assert memory.results().num_rows == 0


@pytest.mark.parametrize("form", FORMS)
def test_it_keeps_ticks_or_the_newest_snapshot(form: str) -> None:
    memory = sink(form)
    memory.give(given(form, rows((9, "z", 1, 2))), 0)
    first = tuples(memory.results())
    memory.give(given(form), 1)
    assert tuples(memory.results()) == ([] if form == "snapshot" else first) + LOOKS[form]


@pytest.mark.parametrize("form", FORMS)
def test_a_tick_done_again_counts_once(form: str) -> None:
    memory = sink(form)
    for tick in (0, 1, 1, 0):
        memory.give(given(form, TWO if tick else TWO.clear()), tick)
    assert tuples(memory.results()) == ([] if form == "snapshot" else LOOKS[form])


def test_an_empty_tick_takes_the_place_of_an_attempt() -> None:
    memory = sink()
    memory.give(TWO, 3)
    memory.give(TWO.clear(), 3)
    assert memory.results().num_rows == 0


def test_an_empty_snapshot_is_the_newest() -> None:
    memory = sink("snapshot")
    memory.give(TWO, 0)
    memory.give(TWO.clear(), 1)
    assert memory.results().num_rows == 0


def test_it_is_bounded() -> None:
    memory = sink(limit="3")
    memory.give(TWO, 0)
    memory.give(TWO, 0)
    with pytest.raises(ExecutionError, match="full: 4 rows, and its limit is 3"):
        memory.give(TWO, 1)
    assert tuples(memory.results()) == LOOKS["intervals"]
    newest = sink("snapshot", limit=2)
    for tick in range(5):
        newest.give(TWO, tick)


def test_a_limit_is_a_number() -> None:
    with pytest.raises(ExecutionError, match="is not a number: 'many'"):
        sink(limit="many")


@pytest.mark.parametrize("form", ["intervals", "snapshot"])
def test_others_read_whole_ticks_while_it_is_given_rows(form: str) -> None:
    memory, done = sink(form), threading.Event()
    failures: list[object] = []

    def read() -> None:
        seen = 0
        while not done.is_set():
            found = memory.results()
            in_pairs = found["k"].to_pylist() == [1, 2] * (found.num_rows // 2)
            if not in_pairs or found.num_rows < seen:
                failures.append(found)
            seen = found.num_rows

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for tick in range(300):
        memory.give(TWO, tick)
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert memory.results().num_rows == (2 if form == "snapshot" else 600)
