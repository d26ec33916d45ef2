"""The leaves of physical plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.nodes import Scan, SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import PER_INSTANT, UNKNOWN_ROWS, PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator


@dataclass(frozen=True)
class SourceExec(Exec):
    """A leaf: the rows of a source with their validity. The runtime feeds it.

    In a running graph, a relation is read anew for parts that begin later: the `reading` tells
    such leaves apart.
    """

    scan: Scan
    reading: int = 0

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    @property
    def children(self) -> tuple[Exec, ...]:
        return ()

    @cached_property
    def schema(self) -> Schema:
        return self.scan.schema

    def details(self) -> str:
        again = f" reading={self.reading}" if self.reading else ""
        return self.scan.details() + again

    @cached_property
    def validity(self) -> RowValidity:
        kind = self.scan.kind
        constant = kind is SourceKind.CONSTANT
        return RowValidity(kind is SourceKind.STREAM, constant, constant)

    @property
    def same_rows(self) -> bool:  # type: ignore[override]
        # Of other relations it is not known when the latest row started that was given.
        return self.scan.kind in (SourceKind.STREAM, SourceKind.CONSTANT)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return self.scan

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        if self.scan.kind is SourceKind.STREAM:
            return PER_INSTANT
        return UNKNOWN_ROWS if self.scan.rows is None else max(1, self.scan.rows)

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        raise TypeError("a source has no operator; the runtime feeds it")
