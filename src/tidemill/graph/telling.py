"""Operators that have to tell how far they have come while somebody waits for that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import count

from tidemill.algebra.plan import nodes_of
from tidemill.graph.migration import Migration, hand_overs
from tidemill.graph.plan_matching import substituted
from tidemill.physical.operator import Exec, has_open_results, with_choice

Telling = dict[Exec, Exec]
"""For operators, the eager ones that go on in their places."""


def is_made_eager(part: Exec, running: Collection[Exec]) -> bool:
    """Whether a part that is to tell how far it has come goes on from one that does not."""
    return part in running and part.with_eager(True) not in running


def eager(part: Exec, running: Collection[Exec]) -> Exec:
    """A part of a new plan such that its watermark goes on."""
    if is_made_eager(part, running):
        return substituted(part, telling(part, running))
    return part.with_eager(True)


def telling(part: Exec, running: Collection[Exec]) -> Telling:
    """What can take the places of the operators that hold the watermark of a part back."""
    return {node: _apart(node, running) for node in _holding_back(part)}


def _apart(node: Exec, running: Collection[Exec]) -> Exec:
    """The operator if it is eager. Another query may have an eager one already, which has told
    what this one still holds open: so it gets a number of its own."""
    each = (with_choice(node, eager=number) for number in count(1))
    return next(node for node in each if node not in running)


def _holding_back(part: Exec) -> Iterator[Exec]:
    """The operators of a part whose results stay open, and its watermark with them."""
    for child in part.pacing:
        yield from _holding_back(child)
    if not part.pacing and has_open_results(part) and part.with_eager(True) != part:
        yield part


def no_longer(
    ended: Iterable[Migration], others: Iterable[Migration], running: Collection[Exec]
) -> Telling:
    """For operators that were made eager and need not be any more, what they were before.

    Where another migration waits for them as well, it has to see to that when it ends.
    """
    waiting = {node: each for each in others for node in _waited_for(each)}
    found: Telling = {}
    for migration in ended:
        for before, told in migration.made_eager.items():
            if told in waiting:
                waiting[told].made_eager[before] = told
            elif told in running and before not in running:
                found[told] = before
    return found


def _waited_for(migration: Migration) -> list[Exec]:
    places = hand_overs(migration.handing_over)
    return nodes_of(*(side for place in places for side in place.children))
