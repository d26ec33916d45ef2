"""Project: compute new columns from single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from tidemill.algebra.nodes import Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Field, Schema
from tidemill.expressions import UserFunction, compile_items
from tidemill.physical.facts import RowValidity
from tidemill.physical.operator import Operator, RowExec, Stateless, empty_batch
from tidemill.timeline import VALID_FROM, VALID_TO


@dataclass(frozen=True)
class ProjectExec(RowExec):
    """Compute the items for every row; the validity stays."""

    items: tuple[tuple[str, Scalar], ...]
    functions: tuple[UserFunction, ...] = ()

    same_rows = True
    by_name = True

    @cached_property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, scalar.type) for name, scalar in self.items))

    def details(self) -> str:
        return Project(self.child, self.items).details()

    @cached_property
    def validity(self) -> RowValidity:
        below = self.child.validity
        kept = {item.node.name for _, item in self.items if item.is_column}
        same = kept == set(self.child.schema.names)
        return replace(below, coalesced=same and below.coalesced)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Project(inputs[0], self.items)

    def operator(self) -> Operator:
        return _Project(self)


class _Project(Stateless):
    def __init__(self, node: ProjectExec) -> None:
        functions = {function.name.lower(): function for function in node.functions}
        self._items = compile_items(node.items, node.child.schema, functions)
        self._empty = empty_batch(node.schema)

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        if batch.height == 0:
            return self._empty
        validity = [batch[VALID_FROM], batch[VALID_TO]]
        return self._items.run(batch).hstack(validity)
