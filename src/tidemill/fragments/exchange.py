"""Exchanges: where rows change the partition."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Exec, Operator


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
class ExchangeExec(Exec):
    """Rows on their way to the partition where the next operator wants them."""

    child: Plan
    mode: Mode
    keys: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        keys = f"=[{', '.join(self.keys)}]" if self.keys else ""
        return f"{self.mode.value}{keys}"

    def operator(self) -> Operator:
        raise TypeError("an exchange has no operator; the runtime moves the rows")


class Bare(dict[Plan, Plan]):
    """Placed plans, wherever their rows move, by these plans.

    What plans have in common is looked at once: a part that occurs twice at each of n levels
    would else be looked at 2^n times.
    """

    def __missing__(self, plan: Plan) -> Plan:
        if isinstance(plan, ExchangeExec):
            found = self[plan.child]
        else:
            found = plan.with_children([self[child] for child in plan.children])
        self[plan] = found
        return found
