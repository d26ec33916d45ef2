"""The calls of a running aggregation, whatever their kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.aggregates import AggregateCall, UserAggregate
from tidemill.algebra.collected import COLLECTED
from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.keys import KeyTable
from tidemill.physical.mechanisms.ledger import Moments, Posted
from tidemill.physical.operator import ends
from tidemill.physical.operators.aggregate.accumulators import ROWS, Accumulator, accumulator
from tidemill.physical.operators.aggregate.extremes import Extremes, sortable, unsortable
from tidemill.physical.operators.aggregate.user import UserState


class RunningCall(ABC):
    """One aggregate call: what it posts to the ledger, and its answers at the moments."""

    STATE: ClassVar[tuple[str, ...]] = ()
    """See `Operator.STATE`."""

    def __init__(self, call: AggregateCall, source: int) -> None:
        self.call = call
        self.source = source

    @abstractmethod
    def amounts(self, batch: pl.DataFrame) -> Mapping[str, Array]:
        """What the rows of a batch contribute to the ledger."""

    @abstractmethod
    def advance(
        self, batch: pl.DataFrame, moments: Moments, table: KeyTable, swept: int, until: int
    ) -> None:
        """Take the moments of a step."""

    @abstractmethod
    def after(self, moments: Ints) -> pl.Series:
        """The answers from these moments on."""

    @abstractmethod
    def before(self, firsts: Ints) -> pl.Series:
        """The answers before these of the first moments of their groups."""

    @abstractmethod
    def now(self, table: KeyTable, slots: Ints) -> pl.Series:
        """The answers of these groups at the sweep line."""

    @abstractmethod
    def finish(self) -> None:
        """Drop what only this step needed: it is no part of the state."""

    def renumber(self, moved: Ints) -> None:  # noqa: B027 (most calls keep nothing by slot)
        """Follow slots to their new numbers."""

    def adopt(self, other: Any, moved: Ints) -> None:  # noqa: B027 (most calls keep nothing)
        """Take what another one keeps of slots that have moved here."""

    @property
    def nbytes(self) -> int:
        return 0


class _Additive(RunningCall):
    """A call whose answer follows from totals of the ledger alone."""

    def __init__(self, call: AggregateCall, source: int, totals: Accumulator) -> None:
        super().__init__(call, source)
        self._accumulator = totals

    def amounts(self, batch: pl.DataFrame) -> Mapping[str, Array]:
        return self._accumulator.amounts(batch)

    def advance(
        self, batch: pl.DataFrame, moments: Moments, table: KeyTable, swept: int, until: int
    ) -> None:
        self._moments = moments

    def after(self, moments: Ints) -> pl.Series:
        return self._result(self._moments.totals, moments)

    def before(self, firsts: Ints) -> pl.Series:
        return self._result(self._moments.before, firsts)

    def now(self, table: KeyTable, slots: Ints) -> pl.Series:
        return self._result(table.columns, slots)

    def finish(self) -> None:
        del self._moments

    def _result(self, totals: Mapping[str, Array], rows: Ints) -> pl.Series:
        head = self._accumulator.prefix + ":"
        own = {n: c[rows] for n, c in totals.items() if n == ROWS or n.startswith(head)}
        return self._accumulator.result(own, len(rows))


class _Best(RunningCall):
    """MIN or MAX, or a user's aggregate: the answer itself is kept per group.

    Whether there is an answer at all follows from the number of rows without a value, which the
    ledger keeps; while there are none, that costs nothing. For distinct values, which come by
    themselves, it follows from their own number.
    """

    def __init__(self, call: AggregateCall, source: int, prefix: str, argument: pa.DataType):
        super().__init__(call, source)
        self._values = f"{prefix}:values"
        self._lacking = f"{prefix}:lacking"
        self._column = f"{prefix}:{call.name}"  # calls do not share it, unlike totals

    def amounts(self, batch: pl.DataFrame) -> Mapping[str, Array]:
        lacking = batch[self.call.argument or ""].is_null()
        if self.source:
            return {self._values: (~lacking).to_numpy().astype(np.int8)}
        return {self._lacking: lacking.to_numpy().astype(np.int8)} if lacking.any() else {}

    def advance(
        self, batch: pl.DataFrame, moments: Moments, table: KeyTable, swept: int, until: int
    ) -> None:
        column = batch[self.call.argument or ""]
        posted, end = moments.posted[self.source], ends(batch)
        if column.null_count():
            rows = np.flatnonzero(column.is_not_null().to_numpy())
            column, end = column[rows], end[rows]
            posted = Posted(posted.start[rows], posted.end[rows])
        self._moments = moments
        self._after = self._answers(column, end, posted, swept, until)
        kept = table.column(self._column, self._after.dtype)
        self._before = kept[moments.slots[moments.first]]
        kept[moments.slots[moments.last]] = self._after[moments.last]

    @abstractmethod
    def _answers(
        self, values: pl.Series, end: Ints, posted: Posted, swept: int, until: int
    ) -> Array:
        """The answers at all moments."""

    @abstractmethod
    def _series(self, answers: Array, absent: Array) -> pl.Series:
        """Answers as a column, NULL where they are absent."""

    def after(self, moments: Ints) -> pl.Series:
        return self._series(self._after[moments], self._absent(self._moments.totals, moments))

    def before(self, firsts: Ints) -> pl.Series:
        return self._series(self._before[firsts], self._absent(self._moments.before, firsts))

    def now(self, table: KeyTable, slots: Ints) -> pl.Series:
        return self._series(table.columns[self._column][slots], self._absent(table.columns, slots))

    def finish(self) -> None:
        del self._moments, self._after, self._before

    def _absent(self, totals: Mapping[str, Array], rows: Ints) -> Bools:
        """Where no row has a value."""
        if self.source:
            known = totals.get(self._values)
            return np.ones(len(rows), np.bool_) if known is None else known[rows] == 0
        lacking = totals.get(self._lacking)
        absent: Bools = totals[ROWS][rows] == (0 if lacking is None else lacking[rows])
        return absent


class _Extreme(_Best):
    STATE = ("_extremes",)

    def __init__(self, call: AggregateCall, source: int, prefix: str, argument: pa.DataType):
        super().__init__(call, source, prefix, argument)
        self._type = _polars_type(argument)
        self._extremes = Extremes(largest=call.function == "MAX")

    def _answers(
        self, values: pl.Series, end: Ints, posted: Posted, swept: int, until: int
    ) -> Array:
        keys = sortable(values)
        return self._extremes.advance(keys, end, posted, self._moments, swept, until)

    def _series(self, answers: Array, absent: Array) -> pl.Series:
        series = unsortable(answers, self._type)
        return series.set(pl.Series(absent), None) if absent.any() else series

    def renumber(self, moved: Ints) -> None:
        self._extremes.renumber(moved)

    def adopt(self, other: _Extreme, moved: Ints) -> None:
        self._extremes.adopt(other._extremes, moved)

    @property
    def nbytes(self) -> int:
        return self._extremes.nbytes


class _User(_Best):
    STATE = ("_state",)

    def __init__(
        self,
        call: AggregateCall,
        source: int,
        prefix: str,
        argument: pa.DataType,
        function: UserAggregate,
    ):
        super().__init__(call, source, prefix, argument)
        self._state = UserState(function)

    def _answers(
        self, values: pl.Series, end: Ints, posted: Posted, swept: int, until: int
    ) -> Array:
        return self._state.advance(values.to_list(), end, posted, self._moments, until)

    def _series(self, answers: Array, absent: Array) -> pl.Series:
        pairs = zip(answers.tolist(), absent.tolist(), strict=True)
        array = pa.array([None if gone else answer for answer, gone in pairs], self.call.type)
        return pl.DataFrame(pa.table({"x": array})).to_series(0)

    def renumber(self, moved: Ints) -> None:
        self._state.renumber(moved)

    def adopt(self, other: _User, moved: Ints) -> None:
        self._state.adopt(other._state, moved)


def _polars_type(data_type: pa.DataType) -> pl.DataType:
    return pl.DataFrame(pa.table({"x": pa.array([], data_type)})).dtypes[0]


def _positions(call: AggregateCall, schema: Schema) -> Iterator[str]:
    """What tells the totals of a call from others': the columns that it sums up."""
    for name in (call.argument, *call.parts):
        yield "*" if name is None else str(schema.names.index(name))
    # Extremes are the same, however many rows each stands for.
    if call.function not in ("MIN", "MAX"):
        yield from (f"x{schema.names.index(name)}" for name in call.weights)


def _collected(call: AggregateCall) -> UserAggregate:
    """A function of all values as one that merges: the partial results are the values."""
    function, options = COLLECTED[call.function], call.options
    return UserAggregate(
        call.function,
        init=lambda value: (as_tuple(value),),
        merge=lambda left, right: left + right,
        eval=lambda values: function(list(values), options),
        type=call.type,
        version="built in",
    )


def as_tuple(value: Any) -> Any:
    """Values of several columns in one, which a column holds as a struct."""
    return tuple(value.values()) if isinstance(value, dict) else value


def running_call(call: AggregateCall, schema: Schema, source: int) -> RunningCall:
    """The running form of a call that reads from the given input."""
    argument = None if call.argument is None else schema[call.argument]
    prefix = f"{source}.{'.'.join(_positions(call, schema))}"
    if argument is None:
        return _Additive(call, source, accumulator(call, None, prefix))
    if call.user is not None:
        return _User(call, source, prefix, argument, call.user)
    if call.function in ("MIN", "MAX"):
        return _Extreme(call, source, prefix, argument)
    if call.function in COLLECTED:
        return _User(call, source, prefix, argument, _collected(call))
    return _Additive(call, source, accumulator(call, argument, prefix))
