"""What was typed before, in the user's folder for such things."""

from __future__ import annotations

import os
import re
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from tidemill.errors import masked

_SECRET = re.compile(r"passw(or)?d|secret|token", re.IGNORECASE)


def history_path() -> Path:
    """The file of the history: `tidemill/history` in $XDG_STATE_HOME, or ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME")
    folder = Path(state) if state and Path(state).is_absolute() else Path.home() / ".local/state"
    return folder / "tidemill" / "history"


def open_history(path: Path) -> History:
    """The history in a file that only its owner can read; in memory, if there can be none."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return PrivateHistory(str(path))


class PrivateHistory(FileHistory):
    """A history that forgets what has a password in it, at once."""

    def append_string(self, string: str) -> None:
        """Keep what was typed, unless it holds a secret."""
        if masked(string) == string and not _SECRET.search(string):
            super().append_string(string)
