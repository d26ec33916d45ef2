"""What users ask for: where the results of a query go, in which form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SortKey

Callback = Callable[[pa.Table, int], None]
"""A function of the rows of a tick and its number."""

LateCallback = Callable[[str, pa.Table, int], None]
"""A function of the name of a source, rows that came too late, and the number of the tick."""


@runtime_checkable
class TableSink(Protocol):
    """Takes all rows of a tick in the driver."""

    @property
    def form(self) -> str: ...

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Take the rows of a tick, with their validity, also if there are none."""


Target = str | Callback | TableSink
"""The name of a sink, a function, or whoever takes rows as operators give them."""

_USUAL_FORMS = {"postgres": "snapshot"}


@dataclass(frozen=True)
class SinkRequest:
    """Where the results of a query go: a format with its options or a function, and the form.

    A table in a database holds what is true now; elsewhere, rows come with their intervals, when
    these are known. The form `live` has intervals too, but those that are still open are given as
    far as they are known, and go on with the next tick. Rows of a snapshot are in an `order`, if
    the query has one.

    >>> SinkRequest("parquet").form, SinkRequest("postgres").form
    ('intervals', 'snapshot')
    """

    target: Target = "console"
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # perhaps a password
    form: str = ""
    order: tuple[SortKey, ...] = ()

    def __post_init__(self) -> None:
        usual = _USUAL_FORMS.get(str(self.target), "intervals")
        object.__setattr__(self, "form", self.form or usual)
