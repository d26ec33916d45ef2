"""The base of all plan nodes, and the one way to walk and change plans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

from tidemill.algebra.schema import Schema
from tidemill.explain import PlanLine, numbered, text_of

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Plan(ABC):
    """A node of a logical or physical plan: frozen, compared by value."""

    def __init_subclass__(cls) -> None:
        # Instead of the hash that dataclasses make: it visits all nodes below, every time, and
        # a part that occurs twice at each of n levels 2^n times.
        cls.__hash__ = Plan.cached_hash  # type: ignore[method-assign, assignment]

    def cached_hash(self) -> int:
        """The hash of a node, computed once."""
        if "_hash" not in self.__dict__:
            values = (getattr(self, each.name) for each in fields(self) if each.compare)
            object.__setattr__(self, "_hash", hash((type(self), *values)))
        found: int = self.__dict__["_hash"]
        return found

    def __getstate__(self) -> dict[str, object]:
        """Without the hash, which another process computes otherwise."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    @cached_property
    def children(self) -> tuple[Plan, ...]:
        """The inputs, in operand order."""
        return tuple(child for _, part in self._inputs() for child in part)

    def _inputs(self) -> list[tuple[str, tuple[Plan, ...]]]:
        """The fields that hold inputs: one each, or several in a tuple."""
        found: list[tuple[str, tuple[Plan, ...]]] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Plan):
                found.append((field.name, (value,)))
            elif isinstance(value, tuple) and value and isinstance(value[0], Plan):
                found.append((field.name, value))
        return found

    def with_children(self, children: Sequence[Plan]) -> Self:
        """The same node over other inputs; itself when they are the same objects."""
        if all(old is new for old, new in zip(self.children, children, strict=True)):
            return self
        rest = iter(children)
        changes: dict[str, object] = {}
        for name, part in self._inputs():
            new = tuple(next(rest) for _ in part)
            changes[name] = new[0] if isinstance(getattr(self, name), Plan) else new
        return replace(self, **changes)

    def walk(self) -> Iterator[Plan]:
        """All nodes of the plan, from the top; a part that occurs several times only once."""
        seen: set[int] = set()
        waiting: list[Plan] = [self]
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                waiting.extend(reversed(node.children))

    def fold(self, function: Callable[[Plan, list[T]], T]) -> T:
        """The value of a function of each node and of its values for the inputs; each node once."""
        known: dict[int, T] = {}
        for node in _upwards(self):
            known[id(node)] = function(node, [known[id(child)] for child in node.children])
        return known[id(self)]

    def rewrite(self, function: Callable[[Plan], Plan]) -> Plan:
        """The plan with a function applied to every node over its new inputs.

        What occurs several times is rewritten once, and stays one object.
        """
        return self.fold(lambda node, inputs: function(node.with_children(inputs)))

    def replace_parts(self, function: Callable[[Plan], Plan | None]) -> Plan:
        """The plan with other parts in the place of those for which a function gives them.

        It is asked from the top, once for each part, and not about what is below a part that goes.
        """
        replacement = Memo(function)
        new: dict[int, Plan] = {}
        for node in _upwards(self, inputs=lambda each: () if replacement(each) else each.children):
            found = replacement(node)
            new[id(node)] = found or node.with_children([new[id(each)] for each in node.children])
        return new[id(self)]

    @cached_property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns of the result."""

    def details(self) -> str:
        """What explain prints after the name of the node."""
        return ""

    @property
    def label(self) -> str:
        """One line of explain: name and attributes."""
        return f"{type(self).__name__} {self.details()}".rstrip()

    def __str__(self) -> str:
        return render(self)


P = TypeVar("P", bound=Plan)
G = TypeVar("G")


class Memo(Generic[S, T]):
    """What a function says of parts of plans, or of expressions; it is asked once for each.

    A part is known by its identity, since comparing plans takes long. Every part that was asked
    about is kept: otherwise another could get the identity of one that is gone.
    """

    def __init__(self, function: Callable[[S], T]) -> None:
        self._function = function
        self._known: dict[int, tuple[S, T]] = {}

    def __call__(self, part: S) -> T:
        found = self._known.get(id(part))
        if found is None:
            found = self._known[id(part)] = (part, self._function(part))
        return found[1]

    def forget(self, part: S) -> None:
        """Ask again about a part; what was said of others by it stays."""
        self._known.pop(id(part), None)

    def items(self) -> Iterator[tuple[S, T]]:
        """All parts that were asked about, with the answers."""
        return iter(self._known.values())


def nodes_of(*roots: P) -> list[P]:
    """All different parts of plans, inputs first: the order in which they run."""
    return list(dict.fromkeys(_upwards(*roots)))


def carried_down(
    roots: Iterable[P], given: G, onward: Callable[[P, G], Sequence[G]]
) -> Iterator[tuple[P, G]]:
    """All parts of plans, from the top, with what comes down to them.

    `onward` says what a node gives to each of its inputs. A part that several others read comes
    once for each different thing that it is given.
    """
    seen: set[tuple[int, G]] = set()
    waiting: list[tuple[Any, G]] = [(root, given) for root in reversed(list(roots))]
    while waiting:
        node, given = waiting.pop()
        if (id(node), given) not in seen:
            seen.add((id(node), given))
            yield node, given
            below = zip(node.children, onward(node, given), strict=True)
            waiting.extend(reversed(list(below)))


def operands(plan: Plan, kind: type[Plan]) -> Iterator[Plan]:
    """What nested nodes of one kind combine, from the left.

    >>> from tidemill.algebra import Scan, Union
    >>> a, b, c = (Scan(name, name, Schema(())) for name in "abc")
    >>> [each.label for each in operands(Union(a, Union(b, c)), Union)]
    ['Scan a columns=[]', 'Scan b columns=[]', 'Scan c columns=[]']
    """
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if isinstance(node, kind):
            waiting.extend(reversed(node.children))
        else:
            yield node


def _inputs_of(node: P) -> Sequence[Any]:
    return node.children


def _upwards(*roots: P, inputs: Callable[[P], Sequence[Any]] = _inputs_of) -> Iterator[P]:
    """All nodes of plans, inputs first, each object once; without recursion, as plans are deep."""
    done: set[int] = set()
    waiting: list[Any] = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if id(node) in done:
            continue
        missing = [child for child in inputs(node) if id(child) not in done]
        if missing:
            waiting += [node, *reversed(missing)]
        else:
            done.add(id(node))
            yield node


def render(plan: Plan) -> str:
    """The plan as text, one numbered operator per line, inputs indented."""
    return "\n".join(text_of(lines_of(plan)))


def lines_of(plan: Plan) -> tuple[PlanLine, ...]:
    """The lines of a plan, as explain shows them."""
    shown = with_depth(plan)
    return numbered((depth, type(each).__name__, each.details()) for depth, each in shown)


def with_depth(plan: Plan, depth: int = 0) -> Iterator[tuple[int, Plan]]:
    """The nodes as they are shown, each with its depth: what occurs twice is there twice."""
    yield depth, plan
    for child in plan.children:
        yield from with_depth(child, depth + 1)
