"""Plans in stages.

A stage is what runs between two exchanges: all operators of one level, in every partition.
Level 0 is done by the runtime itself, next to the sources: rows are read, filtered, projected
and given their validity. An edge carries rows from the level where they are made to the level
that needs them; stages in between pass them on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.plan import Plan, lines_of
from tidemill.algebra.schema import Schema
from tidemill.explain import PlanLine
from tidemill.fragments.exchange import Mode
from tidemill.fragments.late import LateRowsExec
from tidemill.physical.facts import PER_INSTANT, PacedBy, Partitioning, RowValidity
from tidemill.physical.filter import FilterExec
from tidemill.physical.operator import Exec, Operator
from tidemill.physical.project import ProjectExec
from tidemill.physical.source import SourceExec
from tidemill.physical.time_window import TimeWindowExec

NOWHERE = sys.maxsize
"""The level that results go to: behind all stages."""


@dataclass(frozen=True)
class EdgeExec(Exec):
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
        raise TypeError("an edge means nothing without the plan that it was cut out of")

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return PER_INSTANT

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        raise TypeError("an edge has no operator; the runtime brings the rows")


@dataclass(frozen=True)
class Edge:
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
    def leaves(self) -> list[EdgeExec]:
        """The edges that bring rows to this stage."""
        nodes = (node for _, root in self.outputs for node in root.walk())
        return list(dict.fromkeys(node for node in nodes if isinstance(node, EdgeExec)))


@dataclass(frozen=True)
class Staged:
    """Whole plans in stages. `results` are the tags of their rows, in the order of the plans."""

    plans: tuple[Exec, ...] = ()
    edges: tuple[Edge, ...] = ()
    stages: tuple[Stage, ...] = ()
    results: tuple[int, ...] = ()

    def edge(self, tag: int) -> Edge:
        return self._by_tag[tag]

    @cached_property
    def _by_tag(self) -> dict[int, Edge]:
        return {edge.tag: edge for edge in self.edges}

    def sources_of(self, tag: int) -> tuple[str, ...]:
        """The sources below an edge, by name."""
        return self._sources[tag]

    @cached_property
    def _sources(self) -> dict[int, tuple[str, ...]]:
        return {edge.tag: _names(edge.producer) for edge in self.edges}

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
        for edge in self.edges:
            if not edge.made_at:
                yield PlanLine(f"native: {edge} := {edge.producer.label}")
        for stage in self.stages:
            yield PlanLine(f"stage {stage.level}")
            for tag, root in stage.outputs:
                yield PlanLine(f"{self.edge(tag)} :=")
                yield from lines_of(root)


def _names(plan: Plan) -> tuple[str, ...]:
    leaves = (leaf for leaf in plan.walk() if isinstance(leaf, SourceExec))
    return tuple(dict.fromkeys(leaf.scan.source for leaf in leaves))


def is_native(node: Plan) -> bool:
    """Whether the runtime can do this part itself, next to the source."""
    match node:
        case SourceExec() | LateRowsExec():
            return True
        case FilterExec() | ProjectExec():
            return is_native(node.child)
        case TimeWindowExec():
            sized = node.slide == 1 and node.size is not None
            return sized and is_native(node.child) and not _has_window(node.child)
    return False


def _has_window(node: Plan) -> bool:
    """Whether a window has given the rows of a native part their validity already."""
    return any(isinstance(part, TimeWindowExec) for part in node.walk())
