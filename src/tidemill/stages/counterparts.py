"""Which operators of new stages go on in the place of old ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidemill.algebra.plan import Plan
from tidemill.errors import ExecutionError
from tidemill.physical.operator import Exec
from tidemill.physical.operators.project import ProjectExec
from tidemill.stages.colocation import Together, renamed
from tidemill.stages.exchange import ExchangeExec, Mode
from tidemill.stages.stages import ReceiveExec
from tidemill.stages.staging import Staging


@dataclass
class Counterparts:
    """Old operators by new ones; and by the tags of new exchanges, what was in their place."""

    operators: dict[Exec, Exec] = field(default_factory=dict)
    inputs: dict[int, Exec] = field(default_factory=dict)


def counterparts(new: Staging, old: Staging, carried: Mapping[Exec, Exec]) -> Counterparts:
    """What takes over from what, where new parts of plans take the place of old ones."""
    found = Counterparts()
    places = (_Places(new), _Places(old))
    for part, before in carried.items():
        if part in new.placed and before in old.placed:
            match = _Match(new, old, places, part, found)
            match.of(new.placed[part].plan, old.placed[before].plan)
    return found


class _Match:
    """Walks down the operators that one part has become, on both sides."""

    def __init__(
        self,
        new: Staging,
        old: Staging,
        places: tuple[_Places, _Places],
        part: Exec,
        found: Counterparts,
    ) -> None:
        self._new = new
        self._old = old
        self._places = places
        self._found = found
        below = (node for node in part.walk() if node is not part)
        self._parts_below = {new.placed[node].plan for node in below}

    def of(self, new: Plan, old: Plan) -> None:
        if type(new) is not type(old):
            raise _elsewhere(new, old)
        operator, before = self._new.locals.get(new), self._old.locals.get(old)  # type: ignore[call-overload]
        if operator is not None and before is not None:
            self._found.operators[operator] = before
            self._found.inputs.update(_inputs(operator, before))
        for child, other in zip(new.children, old.children, strict=True):
            if not _fits(self._places[0].of(child), self._places[1].of(other)):
                raise _elsewhere(new, old)
            child, other = _moved(child), _moved(other)
            if child not in self._parts_below and type(child) is type(other):
                self.of(child, other)


class _Places:
    """Where the rows of placed plans are."""

    def __init__(self, staging: Staging) -> None:
        self._known = {placed.plan: placed.together for placed in staging.placed.values()}

    def of(self, plan: Plan) -> frozenset[Together | Mode]:
        """In which ways rows are together, or that they are everywhere."""
        match plan:
            case ExchangeExec(mode=Mode.HASH | Mode.SINGLE):
                return frozenset({Together(plan.keys)})
            case ExchangeExec():
                return frozenset({plan.mode})
            case _ if plan in self._known:
                return frozenset(self._known[plan])
            case ProjectExec():
                below = self.of(plan.child)
                ways = frozenset(way for way in below if isinstance(way, Together))
                return frozenset(renamed(plan, ways)) | (below - ways)
        inputs = [self.of(child) for child in plan.children]
        return frozenset.intersection(*inputs) if inputs else frozenset()


def _fits(new: frozenset[Together | Mode], old: frozenset[Together | Mode]) -> bool:
    """Whether rows find those that came before. Where any place will do, nothing is said of it."""
    same_everywhere = (Mode.BROADCAST in new) == (Mode.BROADCAST in old)
    return same_everywhere and bool(new & old or not new or not old)


def _moved(plan: Plan) -> Plan:
    return plan.child if isinstance(plan, ExchangeExec) else plan


def _inputs(new: Exec, old: Exec) -> Iterator[tuple[int, Exec]]:
    for leaf, before in zip(new.children, old.children, strict=True):
        if isinstance(leaf, ReceiveExec) and isinstance(before, Exec):
            yield leaf.tag, before


def _elsewhere(new: Plan, old: Plan) -> ExecutionError:
    return ExecutionError(
        f"{new.label} cannot replace {old.label}: its rows are in other partitions",
        help="start it as a query of its own, beside the old one",
    )
