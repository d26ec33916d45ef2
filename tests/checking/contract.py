"""Plans that hold every operator to its contract, at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Exec, Operator, RowExec, empty_batch
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.source import SourceExec
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO


class ContractError(AssertionError):
    """An operator broke a promise on which the operators above it rely."""


class Contract:
    """The promises of all operators of one run.

    A wrong answer at the root shows that something is wrong; a broken promise shows where.
    """

    def __init__(self) -> None:
        self.watches: list[Watch] = []

    def on(self, plan: Exec) -> Exec:
        """The same plan with a watch above every operator. Shared parts stay shared."""
        return plan.rewrite(lambda node: WatchExec(node, self, tells_ends(node)))

    def check_end(self) -> None:
        """Fail if something is still held back although all input has ended."""
        for watch in self.watches:
            if watch.promised != OPEN_END:
                raise watch.broken(f"its watermark is still {watch.promised} after all input")


def tells_ends(plan: Plan) -> bool:
    """Whether rows may tell where others end: those of a relation that changes."""
    match plan:
        case SourceExec():
            return plan.scan.kind is SourceKind.CHANGING
        case FilterExec() | ProjectExec() | WatchExec():
            return tells_ends(plan.child)
    return False


@dataclass(frozen=True)
class WatchExec(RowExec):
    """Passes on what comes, after a look at it."""

    contract: Contract = field(compare=False, repr=False)
    tells_ends: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        return self.child.label

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return inputs[0]

    def operator(self) -> Operator:
        watch = Watch(self.child, self.tells_ends)
        self.contract.watches.append(watch)
        return watch


class Watch(Operator):
    """Compares what an operator puts out with what it promised."""

    def __init__(self, node: Exec, tells_ends: bool) -> None:
        self.promised = BEGIN
        self._node = node
        self._columns = empty_batch(node.schema).schema
        self._tells_ends = tells_ends

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        batch, watermark = inputs[0], watermarks[0]
        if batch.schema != self._columns:
            raise self.broken(f"it has the columns {batch.schema}, not {self._columns}")
        if batch.height:
            self._check_rows(batch)
        if watermark < self.promised:
            raise self.broken(f"its watermark went back from {self.promised} to {watermark}")
        self.promised = watermark
        return batch, watermark

    def _check_rows(self, batch: pl.DataFrame) -> None:
        starts, ends = batch[VALID_FROM].to_numpy(), batch[VALID_TO].to_numpy()
        holding = starts <= ends if self._tells_ends else starts < ends
        if not holding.all():
            raise self.broken(f"a row holds nowhere:\n{batch}")
        if starts.min() < self.promised:
            raise self.broken(f"a row starts before the watermark {self.promised}:\n{batch}")

    def broken(self, what: str) -> ContractError:
        """The error that names the operator."""
        return ContractError(f"{self._node.label}: {what}")
