"""Which operators and edges of new stages go on in the place of old ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidemill.algebra.plan import Plan
from tidemill.errors import ExecutionError
from tidemill.fragments.exchange import ExchangeExec
from tidemill.fragments.stages import EdgeExec
from tidemill.fragments.staging import Staging
from tidemill.physical.operator import Exec


@dataclass
class Counterparts:
    """Old operators by new ones, and old edges by new ones, by tag."""

    operators: dict[Exec, Exec] = field(default_factory=dict)
    edges: dict[int, int] = field(default_factory=dict)


def counterparts(new: Staging, old: Staging, carried: Mapping[Exec, Exec]) -> Counterparts:
    """What takes over from what, where new parts of plans take the place of old ones."""
    found = Counterparts()
    for part, before in carried.items():
        if part in new.placed and before in old.placed:
            _Match(new, old, part, found).of(new.placed[part].plan, old.placed[before].plan)
    return found


class _Match:
    """Walks down the operators that one part has become, on both sides."""

    def __init__(self, new: Staging, old: Staging, part: Exec, found: Counterparts) -> None:
        self._new = new
        self._old = old
        self._found = found
        below = (node for node in part.walk() if node is not part)
        self._parts_below = {new.placed[node].plan for node in below}

    def of(self, new: Plan, old: Plan) -> None:
        if type(new) is not type(old) or _way(new) != _way(old):
            raise ExecutionError(
                f"{new.label} cannot go on in the place of {old.label}: "
                "its rows are in other partitions",
                help="start it as a query of its own, beside the old one",
            )
        operator, before = self._new.locals.get(new), self._old.locals.get(old)  # type: ignore[call-overload]
        if operator is not None and before is not None:
            self._found.operators[operator] = before
            self._found.edges.update(_edges(operator, before))
        for child, other in zip(new.children, old.children, strict=True):
            if child not in self._parts_below:
                self.of(child, other)


def _way(node: Plan) -> object:
    return (node.mode, node.keys) if isinstance(node, ExchangeExec) else None


def _edges(new: Exec, old: Exec) -> Iterator[tuple[int, int]]:
    for leaf, before in zip(new.children, old.children, strict=True):
        if isinstance(leaf, EdgeExec) and isinstance(before, EdgeExec):
            yield leaf.tag, before.tag
