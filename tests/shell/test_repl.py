"""The prompt itself, with keys that come through a pipe."""

import io
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from tests.shell.conftest import BIDS
from tidemill.shell import EmbeddedBackend, Printer, Repl

ENTER, CTRL_C, CTRL_D, UP = "\r", "\x03", "\x04", "\x1b[A"


class Terminal(io.StringIO):
    """Something that looks like one."""

    def isatty(self) -> bool:
        return True


def type_in(
    backend: EmbeddedBackend, keys: str, history: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """What is seen when these keys are pressed, until Ctrl-D."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "30")
    seen = Terminal()
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(keys)
        Repl(backend, Printer(seen, seen), history, pipe, DummyOutput()).run()
    return seen.getvalue()


@pytest.fixture
def typed(backend: EmbeddedBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    return lambda keys: type_in(backend, keys, tmp_path / "history", monkeypatch)


def test_statements_go_on_up_to_a_semicolon(typed, backend: EmbeddedBackend) -> None:
    seen = typed(BIDS.replace("\n", ENTER) + CTRL_D)
    assert "stream bid created" in seen
    assert [each.name for each in backend.names()] == ["bid", "hot"]


def test_ctrl_c_takes_back_a_line_and_no_more(typed, backend: EmbeddedBackend) -> None:
    typed(f"CREATE STREAM oops{CTRL_C}CREATE RELATION desk (id INT) CHANGING;{ENTER}{CTRL_D}")
    assert [each.name for each in backend.names()] == ["desk"]


def test_a_command_needs_no_semicolon_and_q_leaves(typed) -> None:
    seen = typed(f"\\d{ENTER}\\q{ENTER}never read")
    assert "there are no names yet" in seen


def test_a_pasted_query_may_have_many_lines(typed, backend: EmbeddedBackend) -> None:
    backend.execute("CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at")
    pasted = "\x1b[200~\\explain SELECT item -- the item\nFROM bid;\x1b[201~"
    assert "columns=[item, price]" in typed(f"{pasted}{ENTER}{CTRL_D}")


def test_the_history_is_kept(typed, tmp_path: Path) -> None:
    typed(f"\\d nothing{ENTER}{CTRL_D}")
    assert typed(f"{UP}{ENTER}{CTRL_D}").count("there is no `nothing`") == 1
    assert "+\\d nothing" in (tmp_path / "history").read_text("utf-8")


def test_a_query_is_watched_until_q(typed, backend: EmbeddedBackend) -> None:
    for statement in BIDS.split(";")[:2]:
        backend.execute(statement)
    backend.execute("START QUERY hot")
    backend.push("bid", [{"item": "lamp", "price": 30, "minute": m} for m in (1, 2)])
    backend.settle()
    seen = typed(f"\\watch hot{ENTER}q\\q{ENTER}")
    assert "lamp" in seen
    assert "as of 1 (q or Ctrl-C ends)" in seen
