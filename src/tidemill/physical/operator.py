"""What a physical operator is: a node of the plan, and the state that it runs with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.once import ONCE
from tidemill.timeline import VALID_FROM, VALID_TO

_VALIDITY = (VALID_FROM, VALID_TO)

T = TypeVar("T")

Own = Callable[[pl.DataFrame], Bools]
"""Which rows belong to a partition."""


class Operator(ABC):
    """A running operator.

    A batch holds the columns of the schema and the validity. A watermark promises that no later
    row of that input starts before it. A step may emit whatever can no longer change.
    """

    STATE: ClassVar[tuple[str, ...]] = ()
    """The attributes that a checkpoint has, beside those of the classes below; all others follow
    from the node."""

    @abstractmethod
    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        """Take the new rows of all inputs; return new rows and the watermark of the output."""

    def start(self, partition: int) -> None:  # noqa: B027 (most operators do not care)
        """Learn in which partition of the stream the operator runs; called once, at first."""

    def rest(self, watermarks: Sequence[int]) -> int | None:
        """The watermark of the output, if a step without new rows would bring nothing new.

        None if the step must be made.
        """
        return None

    def ignores(self, inputs: Sequence[pl.DataFrame]) -> bool:
        """Whether a step with these rows would be one without rows."""
        return False

    def take_over(self, node: Exec) -> None:  # noqa: B027 (most operators do not care)
        """Go on in the place of a node that differs from the operator's own below or in choices.

        Its state must not depend on what differs.
        """

    def tell(self) -> bytes | None:
        """What the same operator should know in other partitions; None if there is no news."""
        return None

    def hear(self, told: Mapping[int, bytes]) -> None:  # noqa: B027 (most operators do not care)
        """Learn what all partitions, this one included, told after the tick before."""

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        """Take over what belongs here of the state of the same operator in other partitions.

        For each of them, and for every input, `own` tells which rows belong here. The operator is
        fresh; the others stay as they are. Time goes on where the last of them has come.
        """
        raise TypeError(f"{type(self).__name__} cannot be divided")

    @property
    def state_rows(self) -> int:
        """How many rows the operator remembers."""
        return 0

    @property
    def state_bytes(self) -> int:
        """How much memory they take."""
        return 0

    @property
    def measures(self) -> dict[str, float]:
        """Further numbers about its work so far; those of partitions are added up."""
        return {}


@dataclass(frozen=True)
class Exec(Plan):
    """A node of a physical plan."""

    if TYPE_CHECKING:  # the inputs of operators are operators

        @cached_property
        def children(self) -> tuple[Exec, ...]: ...

        def walk(self) -> Iterator[Exec]: ...

        def fold(self, function: Callable[[Exec, list[T]], T]) -> T: ...

        def rewrite(self, function: Callable[[Exec], Exec]) -> Exec: ...  # type: ignore[override]

    @abstractmethod
    def operator(self) -> Operator:
        """A fresh operator, with no state yet."""

    # Facts. Where a default would be silently wrong for a new operator, there is none.

    @property
    @abstractmethod
    def validity(self) -> RowValidity:
        """How long the rows of the result hold."""

    @property
    @abstractmethod
    def together(self) -> Columns | Partitioning:
        """By which columns rows of all inputs must be in one partition, to be compared there."""

    @property
    @abstractmethod
    def paced_by(self) -> PacedBy:
        """Whose watermark it passes on."""

    @abstractmethod
    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        """The logical plan over those of the inputs.

        The plan of an input itself, if the operator neither changes its snapshots nor keeps
        anything that is worth an estimate.
        """

    @abstractmethod
    def rows_at_once(self, inputs: Sequence[float]) -> float:
        """How many rows hold at one time, given those of the inputs; good only to compare."""

    @abstractmethod
    def through(self, missed: int) -> int:
        """Until when results lack rows that the operator has not seen, which end before `missed`.

        So long a query that begins now must wait for its first complete answer.
        """

    # Facts whose default is safe: at worst something is done that need not be.

    instant_by_instant: ClassVar[bool] = False
    """Whether the result at an instant follows from what holds there. Below such an operator, an
    input may be replaced by another one even if only the whole plans have the same snapshots."""

    same_rows: ClassVar[bool] = False
    """Whether plans of such operators with the same snapshots have the very same rows."""

    by_name: ClassVar[bool] = False
    """Whether the order of the columns below makes no difference."""

    keeps_columns: ClassVar[bool] = False
    """Whether columns are handed on in the order in which they come."""

    @property
    def is_whole(self) -> bool:
        """Whether what is remembered cannot be divided among more partitions, or fewer."""
        return False  # an operator that does not know how says so when it is asked to `share`

    @property
    def unsaid(self) -> str | None:
        """What the algebra has no words for, if the meaning is not all that the operator does."""
        return None

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        """Of which inputs rows leave a trace in the state, if the last one is `complete` or not."""
        return (True,) * len(self.children)

    @property
    def pacing(self) -> tuple[Exec, ...]:
        """The inputs whose watermarks it passes on."""
        if self.paced_by is PacedBy.OWN:
            return ()
        return self.children[:1] if self.paced_by is PacedBy.FIRST else self.children

    def with_eager(self, eager: bool) -> Exec:
        """The plan with open results cut now and then, so that its watermark goes on, or not.

        An operator that waits for the watermark of an input wants that input eager; where nobody
        waits, results may stay open until they end.
        """
        if self.pacing:
            paced = [child.with_eager(eager) for child in self.pacing]
            return self.with_children([*paced, *self.children[len(paced) :]])
        if has_open_results(self) and bool(self.eager) != eager:  # type: ignore[attr-defined]
            return with_choice(self, eager=int(eager))
        return self


def has_open_results(node: Exec) -> bool:
    """Whether an operator may be eager: its results stay open otherwise until they end.

    Its `eager` is 0 or 1; operators with larger numbers are eager, too, and yet kept apart
    from the same one with 1, because they have cut their results at other instants.
    """
    return any(field.name == "eager" for field in fields(node))


def with_choice(node: Exec, **choices: Any) -> Exec:
    """The node with other values of fields that its state does not depend on."""
    return replace(node, **choices)


@dataclass(frozen=True)
class InstantExec(Exec):
    """An operator whose result at an instant follows from what holds there."""

    instant_by_instant = True

    def through(self, missed: int) -> int:
        return missed


@dataclass(frozen=True)
class OverExec(Exec):
    """An operator over one input, whose columns it hands on."""

    child: Exec

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0]


@dataclass(frozen=True)
class SameMeaningExec(Exec):
    """An operator whose result means the same as its first input, in another form or place."""

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return inputs[0]

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0]

    def through(self, missed: int) -> int:
        return missed


@dataclass(frozen=True)
class RowExec(OverExec, InstantExec):
    """An operator that looks at each row alone, and keeps none."""

    together = Partitioning.ANY
    paced_by = PacedBy.ALL

    @cached_property
    def validity(self) -> RowValidity:
        return self.child.validity

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        return (False,)


class Stateless(Operator):
    """An operator that treats every batch on its own."""

    @abstractmethod
    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The result for one batch."""

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        batch = inputs[0]
        return self.apply(batch), watermarks[0]

    def rest(self, watermarks: Sequence[int]) -> int | None:
        return watermarks[0]

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        pass


class Sweep(Operator):
    """An operator that moves a line over time, from one watermark to the next.

    Rows wait until the watermark has passed their start, so that a sweep sees every row of the
    time it covers, whatever the order in which rows came.
    """

    STATE: ClassVar[tuple[str, ...]] = ("_waiting", "_swept")

    def __init__(self, *inputs: Schema) -> None:
        self._waiting = [Waiting(schema) for schema in inputs]
        self._swept = 0

    @abstractmethod
    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        """Advance to `until`; the slices are all rows that start before it and were not seen."""

    def output_watermark(self, until: int) -> int:
        """The watermark of the output after a sweep."""
        return until

    def is_quiet(self, until: int) -> bool:
        """Whether a sweep to `until` would bring nothing, if no row starts before it."""
        return False

    def rest(self, watermarks: Sequence[int]) -> int | None:
        until = min(watermarks)
        if any(waiting.has_due(until) for waiting in self._waiting):
            return None
        still = until == self._swept
        return self.output_watermark(until) if still or self.is_quiet(until) else None

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        until = min(watermarks)
        parts = zip(self._waiting, inputs, strict=True)
        slices = [waiting.due(batch, until) for waiting, batch in parts]
        result = self.sweep(slices, until)
        self._swept = until
        return result, self.output_watermark(until)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        for number, waiting in enumerate(self._waiting):
            waiting.share([o._waiting[number] for o in others], [each[number] for each in own])
        self._swept = min(other._swept for other in others)

    @property
    def waiting_rows(self) -> int:
        return sum(waiting.rows.height for waiting in self._waiting)

    @property
    def waiting_bytes(self) -> int:
        return sum(waiting.nbytes for waiting in self._waiting)


class Waiting:
    """Rows of an input that start behind a watermark."""

    STATE = ("rows",)

    def __init__(self, schema: Schema) -> None:
        self.rows = empty_batch(schema)

    def due(self, batch: pl.DataFrame, until: int) -> pl.DataFrame:
        """Of these and the rows that waited, those that start before `until`; others wait."""
        parts = (self.rows, batch) if self.rows.height else (batch,)
        due, self.rows = ONCE.get(parts, ("due", until), lambda: _divided(together(parts), until))
        return due

    def has_due(self, until: int) -> bool:
        """Whether a row that waits starts before `until`."""
        return self.rows.height > 0 and bool(starts(self.rows).min() < until)

    def share(self, others: Sequence[Waiting], own: Sequence[Own]) -> None:
        """See `Operator.share`."""
        self.rows = owned([other.rows for other in others], own)

    @property
    def nbytes(self) -> int:
        return int(self.rows.estimated_size())


def _divided(rows: pl.DataFrame, until: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows that start before an instant, and the others."""
    due = starts(rows) < until
    if due.all():
        return rows, rows.clear()
    return rows[np.flatnonzero(due)], rows[np.flatnonzero(~due)]


def together(batches: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several batches; where only one has some, it costs nothing."""
    full = [batch for batch in batches if batch.height]
    if len(full) > 1:
        # In one piece: NumPy would copy the pieces whenever it is asked for a column.
        return pl.concat(full, rechunk=True)
    return full[0] if full else batches[0]


def owned(frames: Sequence[pl.DataFrame], own: Sequence[Own]) -> pl.DataFrame:
    """The rows of several frames that belong to a partition."""
    return together([rows.filter(mine(rows)) for rows, mine in zip(frames, own, strict=True)])


@lru_cache(maxsize=4096)
def empty_batch(schema: Schema) -> pl.DataFrame:
    """A batch with no rows. Nobody changes batches, so one of each schema will do: where few rows
    come, most batches have none."""
    return with_validity(empty_frame(schema), np.empty(0, np.int64), np.empty(0, np.int64))


def empty_frame(schema: Schema) -> pl.DataFrame:
    """The columns of a schema with no rows."""
    return pl.DataFrame(schema.to_arrow().empty_table())


def with_validity(payload: pl.DataFrame, start: Ints, end: Ints) -> pl.DataFrame:
    """A batch from rows and their validity."""
    validity = [pl.Series(VALID_FROM, start), pl.Series(VALID_TO, end)]
    return payload.hstack(validity) if payload.width else pl.DataFrame(validity)


def payload(batch: pl.DataFrame) -> pl.DataFrame:
    """The columns of a batch without its validity."""
    # Many times faster than `drop`, which matters for the many batches of few rows.
    rest = batch.clone()
    for name in _VALIDITY:
        rest.drop_in_place(name)
    return rest


def starts(batch: pl.DataFrame) -> Ints:
    """When the rows of a batch start to hold."""
    return batch[VALID_FROM].to_numpy()


def ends(batch: pl.DataFrame) -> Ints:
    """When the rows of a batch cease to hold."""
    return batch[VALID_TO].to_numpy()
