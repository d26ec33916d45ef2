"""How much time the parts of one tick may still take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tidemill.deadline import TickLimits, giving, until

_NOTED: Final = 0.01
"""Seconds: what took less does not count, and so costs nothing to look at."""

_HELP: Final = (
    "take shorter windows, join on equal columns or compute less per row; "
    "the limit is --max-tick-seconds"
)


class Budget:
    """The limits of one tick. A part has the time that it and all below it may take together.

    Parts are known by numbers; `inputs` tells those of the parts that one reads.
    """

    def __init__(self, limits: TickLimits, inputs: Callable[[int], Sequence[int]]) -> None:
        self._limits = limits
        self._inputs = inputs
        self._slow: list[tuple[int, float]] = []
        self._known: dict[int, int] = {}

    @contextmanager
    def part(self, number: int, label: str) -> Iterator[None]:
        """Run a part as long as there is time for it."""
        began, most = time.monotonic(), self._limits.seconds
        if most is None:
            with giving(self._limits.rows):
                yield
            return
        message = f"the query takes more than {most:g} s of one tick (in {label})"
        with until(began + most - self._spent(number), message, _HELP), giving(self._limits.rows):
            try:
                yield
            finally:
                took = time.monotonic() - began
                if took > _NOTED:
                    self._slow.append((number, took))

    def _spent(self, number: int) -> float:
        """What the parts below one have taken."""
        if not self._slow:
            return 0.0
        below = self._below(number)
        return sum(seconds for each, seconds in self._slow if below >> each & 1)

    def _below(self, number: int) -> int:
        """The parts below one, each of them a bit."""
        if number not in self._known:
            found = 1 << number
            for each in self._inputs(number):
                found |= self._below(each)
            self._known[number] = found
        return self._known[number]
