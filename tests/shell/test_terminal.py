"""The shell as people have it: a process on a terminal, with keys and colours."""

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CTRL_C, CTRL_D, ENTER, TAB = "\x03", "\x04", "\r", "\t"
_CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")


class Terminal:
    """A process whose terminal we are."""

    def __init__(self, folder: Path) -> None:
        self.text = ""
        self.pid, self._keys = pty.fork()
        if self.pid == 0:
            os.environ |= {"TERM": "xterm", "XDG_STATE_HOME": str(folder), "COLUMNS": "100"}
            os.environ |= {"PYTHONPATH": str(ROOT / "src"), "LINES": "40"}
            main = "from tidemill.cli import main; main()"
            os.execv(sys.executable, [sys.executable, "-c", main, "shell"])

    def type(self, keys: str) -> None:
        os.write(self._keys, keys.encode())

    def see(self, wanted: str, patience: float = 60) -> None:
        """Wait until a text is there that was not seen before."""
        until, place = time.monotonic() + patience, None
        while (place := self.text.find(wanted)) < 0:
            assert time.monotonic() < until, f"no {wanted!r} in {self.text!r}"
            self._read(until - time.monotonic())
        self.text = self.text[place + len(wanted) :]

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._keys], [], [], seconds)
        if ready:
            part = os.read(self._keys, 65536).decode(errors="replace")
            if "\x1b[6n" in part:  # where is the cursor?
                self.type("\x1b[1;1R")
            self.text += _CODES.sub("", part)

    def ends(self) -> int:
        """Wait for the process to end; its exit code."""
        until = time.monotonic() + 30
        with suppress(OSError):  # the other side of the terminal is gone
            while time.monotonic() < until:
                self._read(until - time.monotonic())
        assert time.monotonic() < until, f"it does not end: {self.text!r}"
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    yield terminal
    with suppress(ProcessLookupError, ChildProcessError):  # it should have ended by itself
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)


def test_a_conversation(terminal: Terminal) -> None:
    terminal.see("tidemill> ")
    terminal.type(f"CREATE STREAM bid (item STRING, minute BIGINT){ENTER}")
    terminal.see("...> ")
    terminal.type(f"ORDERED BY minute;{ENTER}")
    terminal.see("stream bid created")
    terminal.type(f"SELECT itm{CTRL_C}")
    terminal.see("tidemill> ")
    terminal.type(f"\\watch SELECT item FROM bid WINDOW(RANGE 5){ENTER}")
    terminal.see("no rows yet (q or Ctrl-C ends)")
    terminal.type(CTRL_C)
    terminal.see("tidemill> ")
    terminal.type("\\explain SELECT bid.it")
    terminal.see("it")
    terminal.type(TAB)
    terminal.see("em")
    terminal.type(f" FROM bid{ENTER}")
    terminal.see("Project [item := bid.item]")
    terminal.see("tidemill> ")
    terminal.type(f"\\explain SELECT itm FROM bid{ENTER}")
    terminal.see("did you mean `item`?")
    terminal.see("tidemill> ")
    terminal.type(CTRL_D)
    assert terminal.ends() == 0
