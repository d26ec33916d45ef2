"""Knobs: which windows of which queries are adjusted together.

A window of a query with bounds becomes one operator, or several if a rule has divided it. These
have one knob, so that they keep to be one window. Queries share a knob where they share these
operators, as far as there are sizes that all of them allow; a query that allows none of these gets
a knob, and operators, of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tidemill.algebra.plan import Plan
from tidemill.graph.quality.bounds import Quality, common, quality_of
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec


@dataclass(frozen=True)
class Wish:
    """What a query allows for one of its windows, and the knob that adjusts it."""

    query: str
    window: str
    knob: str
    quality: Quality


def qualities(wishes: Iterable[Wish]) -> dict[str, Quality]:
    """For every knob, what all queries allow that depend on it."""
    found: dict[str, Quality] = {}
    for wish in wishes:
        known = found.get(wish.knob)
        found[wish.knob] = wish.quality if known is None else common(known, wish.quality)
    return found


def without(query: str, wishes: Iterable[Wish]) -> tuple[Wish, ...]:
    """The wishes that are left when a query goes."""
    return tuple(wish for wish in wishes if wish.query != query)


def adjustable_nodes(parts: Iterable[Plan]) -> dict[str, list[AdjustableExec]]:
    """The operators of every knob among some parts of plans."""
    found: dict[str, list[AdjustableExec]] = {}
    for node in parts:
        if isinstance(node, AdjustableExec) and node.knob:
            found.setdefault(node.knob, []).append(node)
    return found


def with_knobs(
    query: str, plan: Exec, wishes: Sequence[Wish], running: Iterable[Plan]
) -> tuple[Exec, tuple[Wish, ...]]:
    """The plan of a query with a knob for each of its windows that has bounds, and all wishes.

    `running` are the parts of the graph. Where the query takes the knob of others, its window is
    as large as theirs is, with all changes. Another plan of a query that runs already keeps the
    knobs that it has.
    """
    giving = _Giving(query, plan, list(wishes), adjustable_nodes(running))
    while (window := giving.next_window()) is not None:
        giving.give(window)
    return giving.plan, tuple(giving.wishes)


@dataclass
class _Giving:
    query: str
    plan: Exec
    wishes: list[Wish]
    nodes: dict[str, list[AdjustableExec]]

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
        bounds = nodes[0].bounds
        assert bounds is not None
        quality = quality_of(nodes[0], bounds)
        knob = self._own(window) or self._shared(nodes, quality) or self._fresh(nodes[0])
        if not self._own(window):
            self.wishes.append(Wish(self.query, window, knob, quality))
        like = self.nodes.get(knob, nodes)[0]

        def given(node: Plan) -> Plan:
            if not isinstance(node, AdjustableExec) or node.knob or _window(node) != window:
                return node
            return node.with_sizes(like.first, like.changes, knob)

        self.plan = changed(self.plan, given)
        own = [n for n in self.plan.walk() if isinstance(n, AdjustableExec) and n.knob == knob]
        self.nodes.setdefault(knob, []).extend(own)

    def _own(self, window: str) -> str | None:
        """The knob that the window has in another plan of the query."""
        found = (w.knob for w in self.wishes if (w.query, w.window) == (self.query, window))
        return next(found, None)

    def _shared(self, nodes: Sequence[AdjustableExec], quality: Quality) -> str | None:
        """A knob of the very same operators that allows something that the query allows."""
        shapes, inputs = set(map(_shape, nodes)), {hash(node.children) for node in nodes}
        allowed = qualities(self.wishes)
        for knob, others in self.nodes.items():
            # Among thousands of knobs few have the same inputs.
            near = knob in allowed and hash(others[0].children) in inputs
            same = near and set(map(_shape, others)) == shapes
            if same and common(allowed[knob], quality).is_possible:
                return knob
        return None

    def _fresh(self, node: AdjustableExec) -> str:
        sources = [leaf.scan.source for leaf in node.walk() if isinstance(leaf, SourceExec)]
        name = f"{_WORDS[node.SIZE]} of {' and '.join(sorted(set(sources)))}"
        taken = {wish.knob for wish in self.wishes} | self.nodes.keys()
        numbered = (f"{name} #{number}" for number in range(2, len(taken) + 3))
        return next(each for each in (name, *numbered) if each not in taken)


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


def changed(plan: Exec, change: Callable[[Plan], Plan]) -> Exec:
    """The plan with a change of every part, inputs first; one that occurs twice is made once."""
    done: dict[int, Plan] = {}

    def made(node: Plan) -> Plan:
        if id(node) not in done:
            done[id(node)] = change(node.with_children([made(child) for child in node.children]))
        return done[id(node)]

    result = made(plan)
    assert isinstance(result, Exec)
    return result
