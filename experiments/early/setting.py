"""What the experiments of Tran and Lee vary, the data they run on, and what the models say.

A second of the text is a thousand instants here, if not said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from experiments.early.costs import Stream
from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.early.plan_costs import JoinInput

LARGEST_TABLE = 1021

_VALUES = 1000  # of the column that is summed


@dataclass(frozen=True)
class Setting:
    """The inputs of a join, as the text gives them: one number per stream.

    `rate` is in rows per second, `window` in rows, `selectivity` one through the number of
    distinct join values. `second` is how many instants a second has.
    """

    rate: tuple[float, ...]
    window: tuple[float, ...]
    groups: tuple[float, ...]
    selectivity: tuple[float, ...]
    second: int = 1000

    def __len__(self) -> int:
        return len(self.rate)

    @property
    def lengths(self) -> list[int]:
        """Windows in instants."""
        pairs = zip(self.window, self.rate, strict=True)
        return [round(window / rate * self.second) for window, rate in pairs]

    @property
    def streams(self) -> list[Stream]:
        """As the text's formulas take it."""
        columns = (self.rate, self.window, self.groups, self.selectivity)
        return [Stream(*values) for values in zip(*columns, strict=True)]

    @property
    def sides(self) -> list[JoinInput]:
        """As our estimates take it."""
        return [
            JoinInput(Characteristics(self.second / s.rate, length), 1 / s.selectivity, s.groups)
            for s, length in zip(self.streams, self.lengths, strict=True)
        ]

    def first(self, **values: float) -> Setting:
        """The same with other values for the first stream, as the text varies them."""
        changed = {name: (value, *getattr(self, name)[1:]) for name, value in values.items()}
        return replace(self, **changed)

    def tables(self, seconds: float, seed: int = 0) -> list[pa.Table]:
        """Rows of all streams for so long: evenly in time, all values drawn independently.

        The streams take turns, so that their rows do not come at the same instants.
        """
        draw = np.random.default_rng(seed)
        return [
            _table(draw, stream, seconds, self.second, number / len(self))
            for number, stream in enumerate(self.streams)
        ]


def _table(
    draw: np.random.Generator, stream: Stream, seconds: float, second: int, turn: float
) -> pa.Table:
    rows = round(stream.rate * seconds)
    times = (np.arange(rows) + turn) * (second / stream.rate)
    return pa.table(
        {
            "ts": times.astype(np.int64),
            "g": _names("g", draw.integers(round(stream.groups), size=rows)),
            "j": _names("j", draw.integers(round(1 / stream.selectivity), size=rows)),
            "a": draw.integers(_VALUES, size=rows),
        }
    )


def _names(letter: str, numbers: Sequence[int]) -> list[str]:
    """Groups and join values are strings, as in the text."""
    return [f"{letter}{number}" for number in numbers]


FIGURE_4 = Setting((300, 300), (5000, 5000), (150, 1), (0.1, 0.1))
FIGURE_5 = Setting((200, 200, 200), (300, 300, 300), (20, 1, 1), (0.1, 0.1, 0.1))
