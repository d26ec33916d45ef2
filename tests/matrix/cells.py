"""What is declared: capabilities, and which of them a way refuses, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.matrix.ways import FABRICS, WAYS, Setup, Way

Tools = Mapping[str, Callable[[], Any]]
"""What a test may need besides: `output` of the process, a `database`, a `broker`, a `topic`."""


@dataclass
class Case:
    """One cell, about to be tried."""

    way: type[Way]
    fabric: str
    folder: Path
    session: Any
    tools: Tools

    def open(self, **setup: Any) -> Way:
        """Begin to run queries this way."""
        return self.way(Setup(self.fabric, self.folder, self.session, **setup))


Try = Callable[[Case], None]
"""Does the real thing, and compares all of the answer."""


@dataclass(frozen=True)
class Refusal:
    """Why something has no meaning in a way; `shown` asks for it and looks at what happens."""

    reason: str
    shown: Try


@dataclass(frozen=True)
class Capability:
    """A row of the table. What is not `refused` must work.

    Keys of `refused` are a way, a fabric, or both ("graph inprocess"). On Spark, the way `sample`
    is tried with every change of the project, if there is one, and all others by the long tests.
    """

    name: str
    works: Try
    refused: Mapping[str, Refusal] = field(default_factory=dict)
    sample: str | None = None

    def refusal(self, way: str, fabric: str) -> Refusal | None:
        """The refusal of a cell, if it is one."""
        for key in (f"{way} {fabric}", way, fabric):
            if key in self.refused:
                return self.refused[key]
        return None


@dataclass(frozen=True)
class Group:
    """Rows of the table that belong together."""

    title: str
    rows: tuple[Capability, ...]


@dataclass(frozen=True)
class Cell:
    """A capability in a way on a fabric."""

    capability: Capability
    way: type[Way]
    fabric: str

    @property
    def name(self) -> str:
        words = self.capability.name.replace("`", "").replace(" ", "_")
        return f"{words}-{self.way.name}-{self.fabric}"

    @property
    def refusal(self) -> Refusal | None:
        return self.capability.refusal(self.way.name, self.fabric)

    @property
    def is_quick(self) -> bool:
        """Whether it is tried with every change."""
        return self.fabric == "inprocess" or self.way.name == self.capability.sample

    def attempt(self, case: Case) -> None:
        """Do it, or see that it is refused."""
        (self.capability.works if self.refusal is None else self.refusal.shown)(case)


def cells_of(groups: tuple[Group, ...]) -> list[Cell]:
    """All cells of the table."""
    return [
        Cell(row, way, fabric)
        for fabric in FABRICS
        for group in groups
        for row in group.rows
        for way in WAYS
    ]
