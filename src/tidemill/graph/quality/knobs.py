"""Knobs: which windows of which queries are adjusted together.

A window of a query with bounds becomes one operator, or several if a rule has divided it. These
have one knob, so that they keep to be one window. Queries share a knob where they share these
operators, as far as there are sizes that all of them allow; a query that allows none of these gets
a knob, and operators, of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from tidemill.algebra.plan import Plan
from tidemill.graph.quality.bounds import Quality, common, quality_of
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec


@dataclass(frozen=True)
class Wish:
    """What a query allows for one of its windows, and the knob that adjusts it."""

    query: str
    window: str
    knob: str
    quality: Quality


class Knobs:
    """All knobs of a graph: what is allowed for each, and its operators.

    There may be thousands, so they are found by what their operators read.
    """

    def __init__(self, wishes: Iterable[Wish] = (), parts: Iterable[Plan] = ()) -> None:
        self.allowed: dict[str, Quality] = {}
        self.nodes: dict[str, dict[AdjustableExec, None]] = {}
        self._readers: dict[int, dict[str, None]] = {}
        for wish in wishes:
            self.allow(wish)
        self.note(parts)

    def allow(self, wish: Wish) -> None:
        """Take what another query allows into account: all must allow a size."""
        known = self.allowed.get(wish.knob)
        self.allowed[wish.knob] = wish.quality if known is None else common(known, wish.quality)

    def note(self, parts: Iterable[Plan]) -> None:
        """Take note of the operators that have knobs among parts of plans."""
        for knob, nodes in adjustable_nodes(parts).items():
            self.nodes.setdefault(knob, {}).update(dict.fromkeys(nodes))
            for node in nodes:
                self._readers.setdefault(hash(node.children), {})[knob] = None

    def forget(self, parts: Iterable[Plan]) -> None:
        """Operators that are gone: others have taken their places."""
        for knob, nodes in adjustable_nodes(parts).items():
            for node in nodes:
                self.nodes[knob].pop(node, None)
                self._readers.get(hash(node.children), {}).pop(knob, None)

    def like(self, nodes: Sequence[AdjustableExec], quality: Quality) -> str | None:
        """A knob of the very same operators that allows something of this quality."""
        shapes = set(map(_shape, nodes))
        for knob in self._readers.get(hash(nodes[0].children), ()):
            same = knob in self.allowed and set(map(_shape, self.nodes[knob])) == shapes
            if same and common(self.allowed[knob], quality).is_possible:
                return knob
        return None

    def free_name(self, name: str) -> str:
        """The name, or the name with a number that no knob has."""
        numbered = (f"{name} #{number}" for number in count(2))
        return next(each for each in chain([name], numbered) if each not in self.allowed)


def adjustable_nodes(parts: Iterable[Plan]) -> dict[str, list[AdjustableExec]]:
    """The operators of every knob among some parts of plans."""
    found: dict[str, list[AdjustableExec]] = {}
    for node in parts:
        if isinstance(node, AdjustableExec) and node.knob:
            found.setdefault(node.knob, []).append(node)
    return found


def with_knobs(
    query: str, plan: Exec, known: Knobs, own: Sequence[Wish] = ()
) -> tuple[Exec, tuple[Wish, ...]]:
    """The plan of a query with a knob for each of its windows that has bounds, and its wishes.

    The knobs are `known` then. Where the query takes the knob of others, its window is as large
    as theirs is, with all changes. If it runs already with another plan, its `own` wishes tell
    which knobs it has: it keeps these.
    """
    giving = _Giving(query, plan, list(own), known)
    while (window := giving.next_window()) is not None:
        giving.give(window)
    return giving.plan, tuple(giving.wishes)


@dataclass
class _Giving:
    query: str
    plan: Exec
    wishes: list[Wish]
    known: Knobs

    def next_window(self) -> str | None:
        """A window without a knob and with none of these below; None if all have one."""
        waiting: dict[str, list[AdjustableExec]] = {}
        for node in _without_knob(self.plan):
            assert node.bounds is not None
            waiting.setdefault(node.bounds.window, []).append(node)
        for window, nodes in waiting.items():
            below = (child for node in nodes for child in node.children)
            if not any(any(_without_knob(child)) for child in below):
                return window
        return None

    def give(self, window: str) -> None:
        """Give a window of the query its knob."""
        nodes = [node for node in _without_knob(self.plan) if _window(node) == window]
        knob = self._own(window) or self._new(window, nodes)
        like = next(iter(self.known.nodes.get(knob, nodes)))

        def given(node: Exec) -> Exec:
            if not isinstance(node, AdjustableExec) or node.knob or _window(node) != window:
                return node
            return node.with_sizes(like.first, like.changes, knob)

        self.plan = self.plan.rewrite(given)
        self.known.note(node for node in self.plan.walk() if isinstance(node, AdjustableExec))

    def _own(self, window: str) -> str | None:
        """The knob that the window has in another plan of the query."""
        return next((wish.knob for wish in self.wishes if wish.window == window), None)

    def _new(self, window: str, nodes: Sequence[AdjustableExec]) -> str:
        bounds = nodes[0].bounds
        assert bounds is not None
        quality = quality_of(nodes[0], bounds)
        knob = self.known.like(nodes, quality) or self.known.free_name(_name(nodes[0]))
        self.wishes.append(Wish(self.query, window, knob, quality))
        self.known.allow(self.wishes[-1])
        return knob


def _name(node: AdjustableExec) -> str:
    sources = {leaf.scan.source for leaf in node.walk() if isinstance(leaf, SourceExec)}
    return f"{_WORDS[node.SIZE]} of {' and '.join(sorted(sources))}"


_WORDS = {"size": "range", "rows": "rows", "granule": "granularity"}


def _without_knob(plan: Plan) -> Iterator[AdjustableExec]:
    for node in plan.walk():
        if isinstance(node, AdjustableExec) and node.bounds is not None and not node.knob:
            yield node


def _window(node: AdjustableExec) -> str | None:
    return None if node.bounds is None else node.bounds.window


def _shape(node: AdjustableExec) -> AdjustableExec:
    """The operator without its size: what is left must be equal to be shared."""
    return node.with_sizes(1, (), "")
