"""Plans in stages.

A stage is what runs between two exchanges: all operators of one level, in every partition.
Level 0 is done by the runtime itself, next to the sources: rows are read, filtered, projected
and given their validity. An exchange carries rows from the level where they are made to the level
that needs them; stages in between pass them on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.plan import Plan, lines_of, nodes_of
from tidemill.algebra.schema import Schema
from tidemill.explain import PlanLine
from tidemill.physical.facts import PER_INSTANT, PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.row_number import RowNumberExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.unnest import UnnestExec
from tidemill.stages.exchange import Mode
from tidemill.stages.late import LateRowsExec

NOWHERE = sys.maxsize
"""The level that results go to: behind all stages."""


@dataclass(frozen=True)
class ReceiveExec(Exec):
    """A leaf of a stage: rows that come with a tag."""

    tag: int
    columns: Schema

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return self.columns

    def details(self) -> str:
        return f"#{self.tag}"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity()  # where rows come from is not known here

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        raise TypeError("an exchange means nothing without the plan that it was cut out of")

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return PER_INSTANT

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        raise TypeError("an exchange has no operator; the runtime brings the rows")


@dataclass(frozen=True)
class Exchange:
    """Rows on their way from a level to another, and how they find their partition."""

    tag: int
    producer: Exec
    made_at: int
    used_at: int
    mode: Mode
    keys: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.producer.schema

    @property
    def is_result(self) -> bool:
        """Whether the rows leave the stages here."""
        return self.used_at == NOWHERE

    def __str__(self) -> str:
        keys = f" [{', '.join(self.keys)}]" if self.keys else ""
        return f"#{self.tag} {self.mode.value}{keys}"


@dataclass(frozen=True)
class Stage:
    """The operators of one level: what they make, by tag."""

    level: int
    outputs: tuple[tuple[int, Exec], ...]

    @cached_property
    def leaves(self) -> list[ReceiveExec]:
        """The exchanges that bring rows to this stage."""
        return [node for node in self.nodes if isinstance(node, ReceiveExec)]

    @cached_property
    def numbers_rows(self) -> bool:
        """Whether an operator gives numbers to rows as they come."""
        return any(isinstance(node, RowNumberExec) for node in self.nodes)

    @cached_property
    def nodes(self) -> list[Exec]:
        """All its operators and exchanges, inputs first."""
        return nodes_of(*(root for _, root in self.outputs))


@dataclass(frozen=True)
class Staged:
    """Whole plans in stages. `results` are the tags of their rows, in the order of the plans."""

    plans: tuple[Exec, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    stages: tuple[Stage, ...] = ()
    results: tuple[int, ...] = ()

    def exchange(self, tag: int) -> Exchange:
        return self._by_tag[tag]

    @cached_property
    def _by_tag(self) -> dict[int, Exchange]:
        return {exchange.tag: exchange for exchange in self.exchanges}

    def sources_of(self, tag: int) -> tuple[str, ...]:
        """The sources below an exchange, by name."""
        return self._sources[tag]

    @cached_property
    def _sources(self) -> dict[int, tuple[str, ...]]:
        return {exchange.tag: _names(exchange.producer) for exchange in self.exchanges}

    def columns_of(self, source: str) -> tuple[str, ...]:
        """The columns of a source that are read."""
        return tuple(self._columns.get(source, ()))

    @cached_property
    def _columns(self) -> dict[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        producers = (exchange.producer for exchange in self.exchanges if not exchange.made_at)
        for leaf in nodes_of(*producers):
            if isinstance(leaf, SourceExec):
                names = dict.fromkeys(leaf.scan.columns.names)
                found.setdefault(leaf.scan.source, {}).update(names)
        return found

    def stage(self, level: int) -> Stage:
        """The stage of a level; one without operators, if there is none."""
        found = [stage for stage in self.stages if stage.level == level]
        return found[0] if found else Stage(level, ())

    def walk(self) -> Iterator[Plan]:
        """All nodes of all plans."""
        for plan in self.plans:
            yield from plan.walk()

    def lines(self) -> Iterator[PlanLine]:
        """The stages, for explain."""
        for exchange in self.exchanges:
            if not exchange.made_at:
                yield PlanLine(f"native: {exchange} := {exchange.producer.label}")
        for stage in self.stages:
            yield PlanLine(f"stage {stage.level}")
            for tag, root in stage.outputs:
                yield PlanLine(f"{self.exchange(tag)} :=")
                yield from lines_of(root)


def _names(plan: Plan) -> tuple[str, ...]:
    leaves = (leaf for leaf in plan.walk() if isinstance(leaf, SourceExec))
    return tuple(dict.fromkeys(leaf.scan.source for leaf in leaves))


def is_native(node: Plan) -> bool:
    """Whether the runtime can do this part itself, next to the source."""
    match node:
        case SourceExec() | LateRowsExec():
            return True
        case FilterExec() | ProjectExec() | UnnestExec():
            return is_native(node.child)
        case TimeWindowExec():
            sized = node.slide == 1 and not node.delay and node.size is not None
            return sized and is_native(node.child) and not _has_window(node.child)
    return False


def _has_window(node: Plan) -> bool:
    """Whether a window has given the rows of a native part their validity already."""
    return any(isinstance(part, TimeWindowExec) for part in node.walk())
