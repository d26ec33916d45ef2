"""The keyboard while a table is watched."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys as Key

_ENDING = {"q", "Q", Key.ControlC, Key.ControlD, Key.Escape}


class Keyboard:
    """Reads keys without waiting for Enter; Ctrl-C is a key like others meanwhile."""

    def __init__(self, input: Input) -> None:
        self._input = input

    @contextmanager
    def pressed(self) -> Iterator[Callable[[float], bool]]:
        """Gives a function that waits for some seconds, and says whether to end."""
        with self._input.raw_mode():
            yield self._ends

    def _ends(self, seconds: float) -> bool:
        keys = get_typeahead(self._input) or self._waited(seconds)
        for place, key in enumerate(keys):
            if key.key in _ENDING:
                store_typeahead(self._input, keys[place + 1 :])  # for the prompt
                return True
        return self._input.closed

    def _waited(self, seconds: float) -> list[KeyPress]:
        ready, _, _ = select.select([self._input.fileno()], [], [], seconds)
        return self._input.read_keys() if ready else self._input.flush_keys()
