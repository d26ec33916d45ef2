"""Cut plans into stages.

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

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.fragments.exchange import ExchangeExec, Mode
from tidemill.fragments.late import LateRowsExec
from tidemill.fragments.placement import place_exchanges
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

    @cached_property
    def schema(self) -> Schema:
        return self.columns

    def details(self) -> str:
        return f"#{self.tag}"

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

    def __str__(self) -> str:
        keys = f" [{', '.join(self.keys)}]" if self.keys else ""
        return f"#{self.tag} {self.mode.value}{keys}"


@dataclass(frozen=True)
class Stage:
    """The operators of one level: what they make, by tag."""

    level: int
    outputs: tuple[tuple[int, Exec], ...]

    @property
    def leaves(self) -> list[EdgeExec]:
        nodes = (node for _, root in self.outputs for node in root.walk())
        return list(dict.fromkeys(node for node in nodes if isinstance(node, EdgeExec)))


@dataclass(frozen=True)
class Staged:
    """Whole plans in stages. The first edges carry their results, in the order of the plans."""

    plans: tuple[Exec, ...]
    edges: tuple[Edge, ...]
    stages: tuple[Stage, ...]

    def edge(self, tag: int) -> Edge:
        return self.edges[tag]

    @property
    def results(self) -> range:
        """The tags of rows of results."""
        return range(len(self.plans))

    def crossing(self, level: int) -> tuple[Edge, ...]:
        """The edges that carry rows from a level, or one below it, to a level above it."""
        return tuple(edge for edge in self.edges if edge.made_at <= level < edge.used_at)

    def walk(self) -> Iterator[Plan]:
        """All nodes of all plans."""
        for plan in self.plans:
            yield from plan.walk()

    def __str__(self) -> str:
        parts = [
            f"native: {edge} := {edge.producer.label}" for edge in self.edges if not edge.made_at
        ]
        for stage in self.stages:
            parts.append(f"stage {stage.level}")
            parts += [f"{self.edge(tag)} :=\n{root}" for tag, root in stage.outputs]
        return "\n".join(parts)


def stage_plans(plans: Sequence[Exec], partitions: int = 2) -> Staged:
    """Place exchanges in plans and cut them into stages; what they have in common is one.

    The number of partitions matters only to what divides its memory among them.
    """
    return _Cutter(place_exchanges(plans, partitions)).cut()


def is_native(node: Plan) -> bool:
    """Whether the runtime can do this part itself, next to the source."""
    match node:
        case SourceExec() | LateRowsExec():
            return True
        case FilterExec() | ProjectExec():
            return not node.functions and is_native(node.child)
        case TimeWindowExec():
            sized = node.slide == 1 and node.size is not None and not node.is_adjusted
            return sized and is_native(node.child) and not _has_window(node.child)
    return False


def _has_window(node: Plan) -> bool:
    """Whether a window has given the rows of a native part their validity already."""
    return isinstance(node, TimeWindowExec) or any(map(_has_window, node.children))


class _Cutter:
    def __init__(self, plans: Sequence[Exec]) -> None:
        self._plans = plans
        self._levels: dict[Plan, int] = {}
        self._edges: dict[tuple[Plan, int, Mode, tuple[str, ...]], Edge] = {}

    def cut(self) -> Staged:
        results = [
            Edge(tag, plan, self._level(plan), NOWHERE, Mode.KEEP)
            for tag, plan in enumerate(self._plans)
        ]
        roots: dict[int, dict[int, Exec]] = {}
        waiting = list(results)
        while waiting:
            edge = waiting.pop()
            known = len(self._edges)
            if edge.made_at > 0:
                local = self._local(edge.producer, edge.made_at)
                roots.setdefault(edge.made_at, {})[edge.tag] = local
            waiting.extend(list(self._edges.values())[known:])
        stages = [Stage(n, tuple(sorted(roots[n].items()))) for n in sorted(roots)]
        return Staged(tuple(self._plans), (*results, *self._edges.values()), tuple(stages))

    def _level(self, node: Plan) -> int:
        if node not in self._levels:
            self._levels[node] = self._compute_level(node)
        return self._levels[node]

    def _compute_level(self, node: Plan) -> int:
        if is_native(node):
            return 0
        if isinstance(node, ExchangeExec):
            return self._level(node.child)
        return max(1, *(self._needed_level(child) for child in node.children))

    def _needed_level(self, child: Plan) -> int:
        """Below which level an operator over this child cannot run."""
        return self._level(child) + int(isinstance(child, ExchangeExec) or is_native(child))

    def _local(self, node: Exec, level: int) -> Exec:
        """A node of this level, with leaves where rows come from other levels."""
        children = [self._input(child, level) for child in node.children]
        return node.with_children(children)

    def _input(self, child: Plan, level: int) -> Exec:
        assert isinstance(child, Exec)
        if isinstance(child, ExchangeExec):
            return self._leaf(child.child, level, child.mode, child.keys)
        if self._level(child) < level:
            return self._leaf(child, level, Mode.KEEP, ())
        return self._local(child, level)

    def _leaf(self, producer: Plan, level: int, mode: Mode, keys: tuple[str, ...]) -> Exec:
        assert isinstance(producer, Exec)
        made_at = self._level(producer)
        if made_at == 0 and mode is Mode.KEEP:
            mode = Mode.SPREAD  # rows next to a source are in no partition yet
        key = (producer, level, mode, keys)
        if key not in self._edges:
            tag = len(self._plans) + len(self._edges)
            self._edges[key] = Edge(tag, producer, made_at, level, mode, keys)
        return EdgeExec(self._edges[key].tag, producer.schema)
