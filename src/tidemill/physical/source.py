"""The leaves of physical plans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.nodes import Scan
from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Exec, Operator


@dataclass(frozen=True)
class SourceExec(Exec):
    """A leaf: the rows of a source with their validity. The runtime feeds it.

    In a running graph, a relation is read anew for parts that begin later: the `reading` tells
    such leaves apart.
    """

    scan: Scan
    reading: int = 0

    @property
    def children(self) -> tuple[Exec, ...]:
        return ()

    @cached_property
    def schema(self) -> Schema:
        return self.scan.schema

    def details(self) -> str:
        again = f" reading={self.reading}" if self.reading else ""
        return self.scan.details() + again

    def operator(self) -> Operator:
        raise TypeError("a source has no operator; the runtime feeds it")
