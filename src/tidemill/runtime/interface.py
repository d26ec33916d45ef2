"""What a runtime offers: a plan can be run to the end, or started and left running."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl
import pyarrow as pa

from tidemill.runtime.progress import Progress
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class StartRequest:
    """How a user wants a query to run: where results go, in which form, and how long."""

    sink: str | Callable[[pa.Table, int], None]
    form: str
    domain: TimeDomain | None
    checkpoint: str | None
    available_now: bool
    every: str | None


class Running(Protocol):
    """A started query; its methods are named as those of PySpark's StreamingQuery."""

    @property
    def is_active(self) -> bool: ...

    @property
    def progress(self) -> Progress: ...

    def results(self) -> pa.Table: ...

    def exception(self) -> Exception | None: ...

    def process_all_available(self) -> None: ...

    def stop(self) -> None: ...

    def await_termination(self, timeout: float | None = None) -> bool: ...


class Execution(Protocol):
    """A plan in some runtime: the results tick by tick, and how it goes."""

    def __iter__(self) -> Iterator[pl.DataFrame]: ...

    def start(self, request: StartRequest, options: Mapping[str, Any]) -> Running: ...

    @property
    def progress(self) -> Progress: ...
