"""Random windows, in all their spellings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Window:
    """The text behind a stream, and whether its rows may hold for ever."""

    text: str
    stays: bool


_WIDE = (
    Window("WINDOW(RANGE 8)", False),
    Window("[RANGE 12]", False),
    Window("WINDOW(RANGE UNBOUNDED)", True),
    Window("WINDOW(ROWS 7)", True),
)


class WindowWriter:
    """Writes windows. All granularities of a script are equal, so that they fit each other."""

    def __init__(self, random: Random, calm: bool) -> None:
        self._random = random
        self._calm = calm
        self._granule = random.choice([2, 3, 4])

    def window(self, columns: Sequence[str]) -> Window:
        """A window for a stream with these columns."""
        if self._calm and self._random.random() < 0.85:
            return self._random.choice(_WIDE)
        body, stays = self._body(columns)
        if not body:
            return Window(self._granularity(), stays)
        form = "[{}]" if self._random.random() < 0.3 else "WINDOW({})"
        return Window(f"{form.format(body)} {self._granularity()}".rstrip(), stays)

    def _body(self, columns: Sequence[str]) -> tuple[str, bool]:
        roll = self._random.random()
        if roll < 0.06:
            return self._random.choice(["", "NOW"]), False
        if roll < 0.65:
            return self._range()
        by = ""
        if roll < 0.85:
            count = self._random.randint(1, min(2, len(columns)))
            by = f"PARTITION BY {', '.join(self._random.sample(list(columns), count))} "
        if self._random.random() < 0.25:
            return f"{by}SESSION {self._random.choice([1, 2, 3, 4])}", False
        size = self._random.choice(["1", "2", "3", "5", "5", "UNBOUNDED", "MIN 2, MAX 4"])
        return f"{by}ROWS {size}{self._slide()}", True

    def _range(self) -> tuple[str, bool]:
        if self._random.random() < 0.12:
            return f"RANGE UNBOUNDED{self._slide()}{self._delay()}", True
        size = self._random.choice(["1", "2", "3", "5", "8", "8", "12", "MIN 2, MAX 6"])
        return f"RANGE {size}{self._slide()}{self._delay()}", False

    def _slide(self) -> str:
        return (
            f" SLIDE {self._random.choice([1, 2, 2, 3, 5])}" if self._random.random() < 0.15 else ""
        )

    def _delay(self) -> str:
        return f" DELAY {self._random.choice([1, 3, 4])}" if self._random.random() < 0.1 else ""

    def _granularity(self) -> str:
        roll = self._random.random()
        if roll < 0.06:
            return f"GRANULARITY({self._granule})"
        if roll < 0.08:
            return f"GRANULARITY(COARSEST {2 * self._granule}, FINEST {self._granule})"
        return ""
