"""The board of progress, on a terminal and elsewhere."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from tidemill.cli import board
from tidemill.cli.board import Board, BoardEntry, watch, watermark
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.timeline import TimeDomain

NOON = 1_709_294_400_000_000


def progress(ticks: int = 3, **watermarks: int | None) -> Progress:
    sources = {name: SourceProgress(1000, 2, mark) for name, mark in watermarks.items()}
    operators = (OperatorProgress("JoinExec", 5, 70, 2**20), OperatorProgress("X", 5, 7, 0))
    return Progress(ticks, 40, sources, operators, seconds=2.0)


def entry(name: str, now: Progress, *sources: str) -> BoardEntry:
    infos = {name: SimpleNamespace(name=name) for name in sources}
    query: Any = SimpleNamespace(
        progress=now, sources=infos, planned=SimpleNamespace(domain=TimeDomain.MICROSECONDS)
    )
    return BoardEntry(name, query)


class Ended:
    """Queries that end after some looks at them."""

    def __init__(self, looks: int = 3) -> None:
        self.looks = looks
        self.waited = False

    @property
    def is_active(self) -> bool:
        self.looks -= 1
        return self.looks > 0

    def await_termination(self) -> bool:
        self.waited = True
        return True


def shown(terminal: bool, running: Any) -> str:
    out = io.StringIO()
    entries = [entry("hot", progress(a=NOON, b=None), "a"), entry("b", progress(a=NOON, b=0), "b")]
    watch(Console(file=out, force_terminal=terminal, width=100), running, entries)
    return out.getvalue()


def test_a_query_shows_its_own_sources() -> None:
    both = entry("x", progress(a=NOON, b=NOON + 60_000_000), "a", "b")
    one = entry("x", progress(a=NOON, b=NOON + 60_000_000), "b")
    assert both.cells == ("2,000", "1,000", "40", "4", "2024-03-01 12:00:00")
    assert one.cells == ("1,000", "500", "40", "2", "2024-03-01 12:01:00")


@pytest.mark.parametrize(
    ("marks", "domain", "text"),
    [
        ({"a": 1200, "b": 1500}, TimeDomain.TICKS, "1,200"),
        ({"a": 1200, "b": None}, TimeDomain.TICKS, "1,200"),
        ({"a": None}, TimeDomain.MICROSECONDS, "end"),
        ({"a": 0, "b": 5}, TimeDomain.MICROSECONDS, ""),
    ],
)
def test_watermarks(marks: dict[str, int | None], domain: TimeDomain, text: str) -> None:
    assert watermark(progress(**marks), domain) == text


def test_lines_elsewhere() -> None:
    running = Ended()
    assert shown(False, running).splitlines()[:2] == [
        "hot: rows in 1,000, rows/s 500, rows out 40, late 2, watermark 2024-03-01 12:00:00",
        "b: rows in 1,000, rows/s 500, rows out 40, late 2",
    ]
    assert running.waited, "an error of the queries comes out"


def test_a_table_on_a_terminal() -> None:
    text = shown(True, Ended())
    for part in ("rows in", "watermark", "hot", "tick 3, 77 rows of state (1.0 MiB)"):
        assert part in text


def test_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "_SECONDS_BETWEEN_LINES", 0.0)
    out = io.StringIO()
    log = board._Log(Console(file=out), Board([entry("x", progress(a=NOON), "a")]))
    log()
    log()
    assert out.getvalue().count("tick 3") == 1, "nothing has happened in between"
