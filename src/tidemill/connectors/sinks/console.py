"""Results on the console."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tidemill.connectors.sinks.forms import Shape


@dataclass(frozen=True)
class ConsoleSink:
    """Prints the rows of every tick that has some; of a snapshot, also that it is empty.

    >>> import pyarrow as pa
    >>> from tidemill.algebra.schema import Schema
    >>> from tidemill.connectors.sinks.forms import FormShape
    >>> sink = ConsoleSink(FormShape("intervals", Schema.of(v=pa.int64())))
    >>> sink.give(pl.DataFrame({"v": [7], "valid_from": [3], "valid_to": [5]}), tick=2)
    tick 2
      v=7, valid_from=3, valid_to=5
    """

    shape: Shape

    @property
    def form(self) -> str:
        return self.shape.form

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Print the rows of a tick."""
        if not rows.height and not self.shape.is_whole:
            return
        lines = [f"tick {tick}"]
        for row in self.shape(rows).to_pylist():
            lines.append("  " + ", ".join(f"{name}={value}" for name, value in row.items()))
        # At once, so that the lines of several queries do not mix.
        print("\n".join(lines))
