"""Join: rows of several inputs that hold together and match."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.nodes import MultiJoin
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.algebra.schema import Schema
from tidemill.expressions import UserFunction
from tidemill.expressions.bounds import bounds_of, chosen
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, InstantExec, Operator
from tidemill.physical.operators.join.operator import JoinOperator
from tidemill.physical.operators.join.side import Side

Columns = tuple[str, ...]
Order = tuple[int, ...]


@dataclass(frozen=True)
class JoinExec(InstantExec):
    """Find partners by hash of the keys, by ranges, or among all rows, and check the conditions.

    `keys` are the columns of every input that must be equal in all inputs, position by position;
    an input without keys is looked through as a whole. `null_safe` tells for every position
    whether NULL equals NULL.

    `orders[i]` is the order of the inputs in which new rows of input i find their partners: as a
    rule, it begins with i. `buckets` tells how many keys share a place in the index of an input;
    1 makes it a nested loop. No order and no number of buckets changes the result.
    """

    inputs: tuple[Exec, ...]
    keys: tuple[Columns, ...]
    conditions: tuple[Scalar, ...] = ()
    null_safe: tuple[bool, ...] = ()
    orders: tuple[Order, ...] = ()
    buckets: tuple[int | None, ...] = ()
    functions: tuple[UserFunction, ...] = ()

    together = Partitioning.OWN
    paced_by = PacedBy.OWN
    same_rows = True
    keeps_columns = True

    @cached_property
    def schema(self) -> Schema:
        schema = Schema(())
        for child in self.inputs:
            schema = schema + child.schema
        return schema

    @property
    def is_keyed(self) -> bool:
        """Whether any partners are found by key."""
        return sum(map(bool, self.keys)) > 1

    def details(self) -> str:
        text = f"keys=[{', '.join(self._equalities())}]" if self.is_keyed else self._ranges()
        if len(self.inputs) > 2 and self.orders:
            text += f" orders=[{', '.join(''.join(map(str, order)) for order in self.orders)}]"
        where = " AND ".join(map(str, self.conditions))
        return f"{text} where {where}" if where else text

    def _ranges(self) -> str:
        """By which values rows are ordered to find partners without keys."""
        every = range(len(self.inputs))
        bounds = bounds_of(self.conditions, [child.schema for child in self.inputs])
        values = [chosen(bounds, number, every)[:1] for number in every]
        ordered = [str(bound.value) for best in values for bound in best]
        return f"ordered=[{', '.join(ordered)}]" if ordered else "all pairs"

    def _equalities(self) -> list[str]:
        keyed = [columns for columns in self.keys if columns]
        return [
            f" {'<=>' if safe else '='} ".join(columns[at] for columns in keyed)
            for at, safe in enumerate(self.safe_keys)
        ]

    @property
    def condition(self) -> Scalar | None:
        """All that rows must meet, as one condition."""
        return conjunction(*(equal for equal, _ in self._equal()), *self.conditions)

    def _equal(self) -> Iterator[tuple[Scalar, bool]]:
        """What must be equal, and whether NULL equals NULL there."""
        first, *others = [columns for columns in self.keys if columns] or [()]
        for columns in others:
            for one, other, safe in zip(first, columns, self.safe_keys, strict=True):
                yield equality(self._column(one), self._column(other), null_safe=safe), safe

    def _column(self, name: str) -> Scalar:
        return column(name, self.schema[name])

    @property
    def safe_keys(self) -> tuple[bool, ...]:
        """For every key column, whether NULL equals NULL."""
        width = max(map(len, self.keys), default=0)
        return self.null_safe or (False,) * width

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(any(child.validity.chronon for child in self.inputs))

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        # Keys that treat NULL as a value are no keys of the algebra, but conditions.
        plain = [at for at, safe in enumerate(self.safe_keys) if not safe]
        keys = tuple(tuple(columns[at] for at in plain) if columns else () for columns in self.keys)
        conditions = (*(equal for equal, safe in self._equal() if safe), *self.conditions)
        return MultiJoin(tuple(inputs), keys, conditions, self.orders)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return max(inputs) if self.is_keyed else math.prod(inputs)

    def operator(self) -> Operator:
        buckets = self.buckets or (None,) * len(self.inputs)
        sides = [
            Side(child.schema, columns, self.safe_keys, number)
            for child, columns, number in zip(self.inputs, self.keys, buckets, strict=True)
        ]
        return JoinOperator(sides, self.conditions, self.all_orders, self.functions)

    @property
    def all_orders(self) -> tuple[Order, ...]:
        """For new rows of every input, the order in which they meet the others."""
        return self.orders or tuple(map(self._origin_first, range(len(self.inputs))))

    def _origin_first(self, origin: int) -> Order:
        return (origin, *(number for number in range(len(self.inputs)) if number != origin))
