"""The line of progress: on terminals only, and gone when the answer is there."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from threading import Event

import pytest

import tidemill as tm
from tidemill.engine import waiting
from tidemill.runtime.progress import Progress, SourceProgress

NOW = Progress(7, 40, {"bid": SourceProgress(12_000, 0, None)}, seconds=2.0)


class Terminal(io.StringIO):
    """Notes when something was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.drawn.set()
        return super().write(text)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setattr(waiting, "_PAUSE", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_a_terminal_shows_progress(terminal: Terminal) -> None:
    with redirect_stderr(terminal), waiting.progress_line(lambda: NOW):
        assert terminal.drawn.wait(5)
    text = terminal.getvalue()
    assert "12,000 rows in at 6,000/s, 40 out, tick 7" in text
    assert text.endswith("\r\x1b[K"), "nothing is left of it"


def test_nothing_is_shown_before_the_run_begins(terminal: Terminal) -> None:
    looks = Event()

    def look() -> Progress:
        looks.set()
        return Progress()

    with redirect_stderr(terminal), waiting.progress_line(look):
        assert looks.wait(5)
    assert terminal.getvalue() == ""


def test_other_streams_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("s", [{"v": 1, "at": 1}], time="at")
    query = engine.sql("SELECT v FROM s")
    assert query is not None
    query.collect()
    assert capsys.readouterr().err == ""
    assert query.progress.rows_per_second > 0
