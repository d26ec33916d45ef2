"""Exchanges: where rows change the partition."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tidemill.algebra.plan import Memo
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator, OverExec, SameMeaningExec


class Mode(Enum):
    """Which partitions a row goes to."""

    HASH = "hash"  # one, by the values of the keys
    GIVEN = "given"  # the one whose number is in the key
    SINGLE = "single"  # always the same one
    BROADCAST = "broadcast"  # all
    KEEP = "keep"  # the one that it is in
    SPREAD = "spread"  # any one, all evenly
    NOW = "now"  # the one that it is in; there, time goes no further than the newest row


@dataclass(frozen=True)
class ExchangeExec(SameMeaningExec, OverExec):
    """Rows on their way to the partition where the next operator wants them."""

    mode: Mode
    keys: tuple[str, ...] = ()

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    def details(self) -> str:
        keys = f"=[{', '.join(self.keys)}]" if self.keys else ""
        return f"{self.mode.value}{keys}"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    def operator(self) -> Operator:
        raise TypeError("an exchange has no operator; the runtime moves the rows")


def bare_plans() -> Memo[Exec, Exec]:
    """Placed plans, wherever their rows move; what they have in common is looked at once."""
    bare: Memo[Exec, Exec] = Memo(
        lambda plan: (
            bare(plan.child)
            if isinstance(plan, ExchangeExec)
            else plan.with_children(list(map(bare, plan.children)))
        )
    )
    return bare
