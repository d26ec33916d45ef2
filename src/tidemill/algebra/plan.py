"""The base of all plan nodes, and the one way to walk and change plans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

from tidemill.algebra.schema import Schema


@dataclass(frozen=True)
class Plan(ABC):
    """A node of a logical or physical plan: frozen, compared by value."""

    @property
    def children(self) -> tuple[Plan, ...]:
        """The inputs, in operand order."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Plan))

    def with_children(self, children: Sequence[Plan]) -> Self:
        """The same node over other inputs; itself when they are the same objects."""
        names = [f.name for f in fields(self) if isinstance(getattr(self, f.name), Plan)]
        if all(getattr(self, name) is child for name, child in zip(names, children, strict=True)):
            return self
        return replace(self, **dict(zip(names, children, strict=True)))

    def walk(self) -> Iterator[Plan]:
        """All nodes of the plan, parents before children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def transform(self, change: Callable[[Plan], Plan]) -> Plan:
        """The plan with `change` applied to every node, children first."""
        return change(self.with_children([child.transform(change) for child in self.children]))

    @cached_property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns of the result."""

    def details(self) -> str:
        """What explain prints behind the name of the node."""
        return ""

    @property
    def label(self) -> str:
        """One line of explain: name and attributes."""
        return f"{type(self).__name__} {self.details()}".rstrip()

    def __str__(self) -> str:
        return render(self)


def render(plan: Plan) -> str:
    """The plan as text, one numbered operator per line, inputs indented."""
    lines = [("  " * depth) + node.label for depth, node in _with_depth(plan, 0)]
    width = max(2, len(str(len(lines))))
    return "\n".join(f"{number:0{width}d} {line}" for number, line in enumerate(lines, 1))


def _with_depth(plan: Plan, depth: int) -> Iterator[tuple[int, Plan]]:
    yield depth, plan
    for child in plan.children:
        yield from _with_depth(child, depth + 1)
