"""The keyboard while a table is watched."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prompt_toolkit.input import Input
from prompt_toolkit.keys import Keys as Key

_ENDING = {"q", "Q", Key.ControlC, Key.ControlD, Key.Escape}


class Keyboard:
    """Reads keys without waiting for Enter; Ctrl-C is a key like others meanwhile."""

    def __init__(self, input: Input) -> None:
        self._input = input

    @contextmanager
    def pressed(self) -> Iterator[Callable[[float], bool]]:
        """Gives a function that waits so many seconds, and says whether to end."""
        with self._input.raw_mode():
            yield self._waited

    def _waited(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._input.fileno()], [], [], seconds)
        if not ready:
            return any(key.key in _ENDING for key in self._input.flush_keys())
        return self._input.closed or any(key.key in _ENDING for key in self._input.read_keys())
