"""What came of an attack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from rich.table import Table


@dataclass
class Tally:
    """How often it was tried, was harmless, was told by an error, and what went wrong."""

    attack: str
    harmless: int = 0
    told: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def tries(self) -> int:
        return self.harmless + self.told + len(self.wrong)

    def note(self, told: bool = False, times: int = 1) -> None:
        """Count tries that went well."""
        if told:
            self.told += times
        else:
            self.harmless += times

    def try_(self, what: str, attempt: Callable[[], bool]) -> None:
        """Count a try; it returns whether it was told of, and fails if something is wrong."""
        try:
            self.note(attempt())
        except Exception as error:
            self.wrong.append(f"{what}: {type(error).__name__}: {error}"[:4000])

    def fields(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**asdict(self), "tries": self.tries, "seconds": round(self.seconds, 1)}


Attack = Callable[[Tally, float, int], None]
"""Fills a tally: with so large a share of all tries, from a seed on."""


def run(name: str, attack: Attack, share: float, seed: int) -> Tally:
    """Do an attack; that it cannot be done is wrong, too."""
    tally, began = Tally(name), monotonic()
    try:
        attack(tally, share, seed)
    except Exception as error:
        tally.wrong.append(f"the attack itself: {type(error).__name__}: {error}"[:4000])
    tally.seconds = monotonic() - began
    return tally


def table(tallies: list[Tally]) -> Table:
    """Everything at a glance."""
    found = Table("attack", *("tries", "harmless", "told", "wrong", "seconds"))
    for tally in tallies:
        numbers = (tally.tries, tally.harmless, tally.told, len(tally.wrong), tally.seconds)
        found.add_row(tally.attack, *(f"{number:,.0f}" for number in numbers))
    return found
