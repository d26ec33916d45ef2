"""Set operations: how many copies of a row there are, given the copies on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from tidemill.algebra.nodes import Binary


class Sides(Enum):
    """Which side must have a row, for the result to have it."""

    EITHER = "either"
    BOTH = "both"
    LEFT = "left"


@dataclass(frozen=True)
class SetFacts:
    """What is known of a set operation; rules, estimates and operators follow it.

    - `called`: its name, in messages.
    - `adds_copies`: whether there may be more copies than the side has that has most of them; of
      a side that must have a row, than that side has.
    - `drops_rows`: whether a row may be missing that a side has.
    - `keeps_alone`: whether rows that only one side has stay as they are, if that side suffices.
    - `grows_with`: for either side, whether more copies there never make fewer of the result.
    """

    called: str
    sides: Sides
    adds_copies: bool
    drops_rows: bool
    keeps_alone: bool
    grows_with: tuple[bool, bool]


@dataclass(frozen=True)
class SetOperation(Binary):
    """A binary operator on streams of the same columns."""

    facts: ClassVar[SetFacts]

    def __post_init__(self) -> None:
        if self.left.schema != self.right.schema:
            raise ValueError(f"different columns: {self.left.schema} / {self.right.schema}")


@dataclass(frozen=True)
class Union(SetOperation):
    """The copies of both sides together."""

    facts = SetFacts(
        called="the union",
        sides=Sides.EITHER,
        adds_copies=True,
        drops_rows=False,
        keeps_alone=True,
        grows_with=(True, True),
    )


@dataclass(frozen=True)
class Difference(SetOperation):
    """The copies of the left side, less those of the right."""

    facts = SetFacts(
        called="EXCEPT ALL",
        sides=Sides.LEFT,
        adds_copies=False,
        drops_rows=True,
        keeps_alone=True,
        grows_with=(True, False),
    )


@dataclass(frozen=True)
class StrictDifference(SetOperation):
    """The rows of the left side that do not occur on the right, with all their copies."""

    facts = SetFacts(
        called="EXCEPT",
        sides=Sides.LEFT,
        adds_copies=False,
        drops_rows=True,
        keeps_alone=True,
        grows_with=(True, False),
    )


@dataclass(frozen=True)
class Intersection(SetOperation):
    """The smaller number of copies of both sides."""

    facts = SetFacts(
        called="INTERSECT",
        sides=Sides.BOTH,
        adds_copies=False,
        drops_rows=True,
        keeps_alone=False,
        grows_with=(True, True),
    )


@dataclass(frozen=True)
class MaxUnion(SetOperation):
    """The larger number of copies of both sides."""

    facts = SetFacts(
        called="the union",
        sides=Sides.EITHER,
        adds_copies=False,
        drops_rows=False,
        keeps_alone=True,
        grows_with=(True, True),
    )
