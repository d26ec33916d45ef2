"""What a graph in this process needs to go on after a crash, on disk.

Before a tick runs, what it has read is written down; so are revisions, before they take effect.
Now and then all operators are written, and what came before is deleted. A graph that is opened
again loads the operators and does the ticks after that once more.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from tidemill.errors import ExecutionError
from tidemill.runtime import blocks

_TICK, _STATE, _REVISION = "tick", "state", "revision"


class Journal:
    """A folder with files for ticks, revisions and states, each there whole or not at all."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = self._take()
        self._written = 0  # bytes of ticks since the last state
        self._state_size = 0

    def _take(self) -> IO[str]:
        lock = open(self._folder / "lock", "w")  # noqa: SIM115 (kept open while it is held)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise ExecutionError(
                f"the checkpoint {self._folder} is in use by another graph",
                help="stop that graph first, or choose another checkpoint",
            ) from error
        return lock

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    def write_tick(self, tick: int, read: Any) -> None:
        """Keep what a tick has read."""
        self._written += self._write(f"{tick:012d}.{_TICK}", read)

    def write_revision(self, tick: int, revision: Any) -> None:
        """Keep a revision that takes effect with a tick; there may be several."""
        number = sum(name.startswith(f"{tick:012d}.") for name in self._names())
        self._write(f"{tick:012d}.{number:06d}.{_REVISION}", revision)

    def write_delivered(self, tick: int) -> None:
        """Take note that the answers of a tick have reached their sinks."""
        self._put("delivered", [str(tick).encode()])

    @property
    def wants_state(self) -> bool:
        """Whether doing the ticks again would cost more than writing the operators."""
        return 2 * self._written >= self._state_size

    def write_state(self, tick: int, state: Any) -> None:
        """Keep all operators as a tick has left them; what led to them is not needed any more."""
        self._state_size = self._write(f"{tick:012d}.{_STATE}", state)
        self._written = 0
        for name in self._names():
            kind, number = name.rsplit(".", 1)[-1], int(name.split(".")[0])
            old = number < tick if kind == _STATE else number <= tick
            if old and kind in (_TICK, _STATE, _REVISION):
                (self._folder / name).unlink()

    def state(self) -> tuple[int, Any] | None:
        """The last tick after which all operators were kept, and they."""
        names = [name for name in self._names() if name.endswith(f".{_STATE}")]
        return (int(names[-1].split(".")[0]), self._read(names[-1])) if names else None

    def events(self) -> Iterator[tuple[int, str, Any]]:
        """What happened after that, in order: revisions that took effect, and ticks."""
        # (A revision of a tick sorts before the tick itself.)
        for name in self._names():
            kind = name.rsplit(".", 1)[-1]
            if kind in (_TICK, _REVISION):
                yield int(name.split(".")[0]), kind, self._read(name)

    def delivered(self) -> int:
        """The last tick whose answers have reached their sinks."""
        path = self._folder / "delivered"
        return int(path.read_text()) if path.exists() else -1

    def _names(self) -> list[str]:
        names = (path.name for path in self._folder.iterdir())
        return sorted(name for name in names if name[0].isdigit() and "temporary" not in name)

    def _read(self, name: str) -> Any:
        return blocks.load(bytearray((self._folder / name).read_bytes()))

    def _write(self, name: str, value: Any) -> int:
        return self._put(name, blocks.dump(value))

    def _put(self, name: str, parts: list[bytes] | list[bytes | memoryview]) -> int:
        temporary = self._folder / f"{name}.{uuid4().hex}.temporary"
        try:
            with open(temporary, "wb") as file:
                size = sum(file.write(part) for part in parts)
            os.replace(temporary, self._folder / name)
        except OSError:
            temporary.unlink(missing_ok=True)  # a full disk gets no fuller
            raise
        return size
