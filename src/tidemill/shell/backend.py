"""What the shell talks to: an engine in this process, or a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from tidemill.engine import Report
from tidemill.errors import TidemillError, nearest
from tidemill.explain import Explanation
from tidemill.timeline import TimeDomain
from tidemill.wire.base import Column


@dataclass(frozen=True)
class Named:
    """Something that has a name: a stream, a relation, or a query with its state."""

    name: str
    kind: str
    columns: tuple[Column, ...] = ()
    time: str | None = None
    slack: int = 0
    domain: TimeDomain | None = None
    pushed: bool = False
    state: str = ""
    error: str = ""
    complete_from: int = 0
    reads: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    sql: str = ""

    @property
    def is_query(self) -> bool:
        """Whether it can be started and stopped."""
        return self.kind == "query"


def find(names: Sequence[Named], name: str) -> Named:
    """The one of a name, whatever its case."""
    known: dict[str, Named] = {each.name.casefold(): each for each in names}
    if name.casefold() not in known:
        near = nearest(name, known)
        guess = f"did you mean `{near}`? " if near else ""
        raise TidemillError(f"there is no `{name}`", help=f"{guess}\\d lists all names")
    return known[name.casefold()]


@dataclass(frozen=True)
class ShellRows:
    """Rows of an answer; there are more if it was `truncated`."""

    table: pa.Table
    truncated: bool = False


@dataclass(frozen=True)
class ShellSnapshot(ShellRows):
    """The rows that hold at the instant `at`; None before there is an answer.

    A query whose streams have `ended` is complete: that is the instant of its last change.
    """

    at: int | None = None
    ended: bool = False


class Backend(Protocol):
    """Everything that statements and commands need."""

    @property
    def title(self) -> str:
        """What the shell is connected to, in a few words."""
        ...

    def execute(self, sql: str) -> str | None:
        """Run one statement that is no SELECT; the name of the query that it started."""
        ...

    def tell(self, sql: str) -> Report:
        """The answer to SHOW, DESCRIBE or EXPLAIN."""
        ...

    def select(self, sql: str) -> ShellRows:
        """The answer to a SELECT over input that ends."""
        ...

    def names(self) -> Sequence[Named]:
        """Everything that has a name."""
        ...

    def query(self, name: str) -> Named:
        """One query, by the name as it was given."""
        ...

    def explain(self, query: str, level: str) -> Explanation:
        """A plan; `query` is a SELECT or the name of a query."""
        ...

    def snapshot(self, name: str, limit: int) -> ShellSnapshot:
        """The newest answer of a query that runs or ran, cut to a number of rows."""
        ...

    def push(self, stream: str, rows: Any) -> int:
        """Push rows, and wait until the queries that run have them; how many."""
        ...

    def settle(self) -> None:
        """Wait until everything that is there now has been read."""
        ...

    def tick(self) -> int:
        """Make a tick; its number."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
