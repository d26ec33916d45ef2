"""The running join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial, reduce
from itertools import accumulate
from operator import add
from typing import Any

import polars as pl

from tidemill.algebra.scalar import Scalar
from tidemill.expressions import UserFunction
from tidemill.physical.mechanisms.few_rows import beside, kept, taken
from tidemill.physical.mechanisms.keys import same_rows
from tidemill.physical.mechanisms.once import ONCE
from tidemill.physical.mechanisms.pairs import Condition, bounded
from tidemill.physical.operator import (
    Operator,
    Own,
    empty_batch,
    payload,
    together,
    with_validity,
)
from tidemill.physical.operators.join.bands import Bands, Search
from tidemill.physical.operators.join.combinations import (
    Combinations,
    Shelf,
    alone,
    extended,
    gathered,
)
from tidemill.physical.operators.join.side import Side, SortedRun

Order = tuple[int, ...]


class JoinOperator(Operator):
    """New rows of every input meet the rows of the others: the stored ones and the new ones.

    A result has one origin, the first of its inputs that brought a new row. So new rows of an
    input meet only stored rows of the inputs before it, and all rows of those behind it: then
    every result is found once, whatever the order in which its rows are put together. In every
    step the input with the most new rows counts as the first: nobody looks for these rows, so
    they need not be put in order, but for the few that are kept.
    """

    STATE = ("_sides",)

    def __init__(
        self,
        sides: Sequence[Side],
        conditions: Sequence[Scalar],
        orders: Sequence[Order],
        functions: Sequence[UserFunction],
    ) -> None:
        self._sides = sides
        schema = reduce(add, (side.schema for side in sides))
        self._conditions = [Condition(part, schema, functions) for part in conditions]
        self._bands = Bands(conditions, [side.schema for side in sides])
        self._empty = empty_batch(schema)
        self._follow(orders)

    def _follow(self, orders: Sequence[Order]) -> None:
        self._orders = orders
        self._checks = [self._plan_checks(order) for order in orders]

    def take_over(self, node: Any) -> None:
        # The rows that are kept do not depend on the orders in which they are looked up.
        self._follow(node.all_orders)

    @cached_property
    def _exact(self) -> bool:
        return all(side.keys.are_exact(side.schema) for side in self._sides if side.keys)

    def _plan_checks(self, order: Order) -> list[list[Condition]]:
        """After each input of an order, the conditions that can be tested from there."""
        checks: list[list[Condition]] = []
        known: frozenset[str] = frozenset()
        for number in order:
            before, known = known, known | set(self._sides[number].schema.names)
            checks.append(
                [c for c in self._conditions if c.columns <= known and not c.columns <= before]
            )
        # What looks at no column is tested on whole rows: a frame without columns has none.
        checks[-1] += [condition for condition in self._conditions if not condition.columns]
        return checks

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        new = [side.arrive(batch) for side, batch in zip(self._sides, inputs, strict=True)]
        tick = _Tick(self._sides, new, self._first(new))
        every = (part for origin in range(len(new)) for part in self._results(origin, tick))
        found = list(bounded(every))
        for number, side in enumerate(self._sides):
            side.keep(tick.new[number], _others(watermarks, number))
        return (together(found) if found else self._empty), min(watermarks)

    def _first(self, new: Sequence[SortedRun]) -> int:
        """The input with the most new rows, of those whose new rows are the first of an order."""
        able = [number for number, order in enumerate(self._orders) if order[0] == number]
        return max(able, key=lambda number: len(new[number]), default=-1)

    def rest(self, watermarks: Sequence[int]) -> int | None:
        expiring = any(
            side.has_expired(_others(watermarks, number)) for number, side in enumerate(self._sides)
        )
        return None if expiring else min(watermarks)

    def _results(self, origin: int, tick: _Tick) -> Iterator[pl.DataFrame]:
        """All rows of which the origin brings a new part, and no input before it."""
        new, order = tick.new[origin], self._orders[origin]
        shelves = [tick.shelf(number, origin) for number in order]
        if not all(shelves):
            return
        found = (
            whole
            for first in alone(shelves[0], int(new.starts.min()), new.last_end)
            for whole in self._descend(first, shelves, self._checks[origin], tick, 0)
        )
        for some in gathered(found):
            batch = self._checked(tick.rows(some), self._checks[origin][-1])
            if batch.height:
                yield batch

    def _descend(
        self,
        found: Combinations,
        shelves: Sequence[Shelf],
        checks: Sequence[Sequence[Condition]],
        tick: _Tick,
        depth: int,
    ) -> Iterator[Combinations]:
        """Add the other inputs, one after the other; block by block, to bound the memory."""
        if depth + 1 == len(shelves):
            yield found
            return
        for condition in checks[depth]:
            found = found.take(condition.holds(tick.columns(found, condition.columns)))
        last = depth + 2 == len(shelves)
        search = self._search(found, shelves[depth + 1], tick)
        for longer in extended(found, shelves[depth + 1], search, last=last):
            yield from self._descend(longer, shelves, checks, tick, depth + 1)

    def _search(self, found: Combinations, shelf: Shelf, tick: _Tick) -> Search | None:
        """How partners are found other than by key and by when they hold, if they can be."""
        if not len(found) or (shelf.keyed and found.hashes is not None):
            return None
        columns = partial(tick.columns, found)
        return self._bands.search(shelf.number, list(found.rows), columns)

    def _checked(self, batch: pl.DataFrame, conditions: Sequence[Condition]) -> pl.DataFrame:
        """The rows whose keys are equal, not only their hashes, and that meet the conditions."""
        batch = batch if self._exact else self._with_equal_keys(batch)
        for condition in conditions:
            batch = kept(batch, condition.holds(batch)) if batch.height else batch
        return batch

    def _with_equal_keys(self, batch: pl.DataFrame) -> pl.DataFrame:
        keyed = [side.keys.values(batch) for side in self._sides if side.keys]
        for other in keyed[1:]:
            same = same_rows(keyed[0], other)
            batch = kept(batch, same)
        return batch

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        for number, side in enumerate(self._sides):
            side.share([o._sides[number] for o in others], [each[number] for each in own])

    @property
    def state_rows(self) -> int:
        return sum(side.rows for side in self._sides)

    @property
    def state_bytes(self) -> int:
        return sum(side.nbytes for side in self._sides)


class _Tick:
    """The rows of all inputs in one step: those stored before, and the new ones behind them."""

    def __init__(self, sides: Sequence[Side], new: Sequence[SortedRun], first: int) -> None:
        self.new = [run if at == first else run.ordered for at, run in enumerate(new)]
        self._sides = sides
        self._first = first
        self._runs = [
            tuple(zip(_offsets((*side.runs, run)), (*side.runs, run), strict=True))
            for side, run in zip(sides, self.new, strict=True)
        ]

    def shelf(self, number: int, origin: int) -> Shelf:
        """The rows of an input that new rows of the origin meet."""
        runs = self._runs[number]
        if number == origin:
            runs = runs[-1:]
        elif self._is_before(number, origin):
            runs = runs[:-1]
        return Shelf(number, runs, bool(self._sides[number].keys))

    def _is_before(self, number: int, origin: int) -> bool:
        return origin != self._first and (number == self._first or number < origin)

    @cached_property
    def _frames(self) -> list[pl.DataFrame]:
        batches = [tuple(run.batch for _, run in runs) for runs in self._runs]
        return [ONCE.get(each, "rows", partial(_payload, each)) for each in batches]

    def rows(self, found: Combinations) -> pl.DataFrame:
        """Combinations of all inputs as rows of the result."""
        parts = [taken(frame, found.rows[number]) for number, frame in enumerate(self._frames)]
        return with_validity(beside(parts), found.start, found.end)

    def columns(self, found: Combinations, names: frozenset[str]) -> pl.DataFrame:
        """Some columns of combinations."""
        parts = []
        for number, rows in found.rows.items():
            frame = self._frames[number]
            wanted = [name for name in frame.columns if name in names]
            if wanted:
                parts.append(taken(frame.select(wanted), rows))
        return beside(parts)


def _payload(batches: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return payload(pl.concat(batches, rechunk=False))


def _others(watermarks: Sequence[int], number: int) -> int:
    """When rows of an input expire: every later result needs a later row of another input."""
    return min(mark for other, mark in enumerate(watermarks) if other != number)


def _offsets(runs: Sequence[SortedRun]) -> Iterator[int]:
    sizes = (len(run) for run in runs[:-1])
    return accumulate(sizes, initial=0)
