"""The logical operators. Their meaning is defined by `tidemill.reference`."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, reduce
from operator import add

from tidemill.algebra.adjusting import Bounds, Changes, check_changes, shown_size
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.plan import Plan
from tidemill.algebra.promises import Recurrence
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.algebra.schema import Field, Schema


class SourceKind(Enum):
    """Where the rows of a leaf come from, which decides their validity."""

    STREAM = "stream"  # a row of time t holds in [t, t + 1)
    INTERVALS = "intervals"  # rows bring their own validity (a temporal relation)
    CONSTANT = "constant"  # rows hold from the beginning, for ever
    CHANGING = "changing"  # rows are inserted and deleted (a time-varying relation)


VERSION = "#id"
"""A column of time-varying relations that tells apart the rows that were ever inserted.

A row that was deleted and inserted again is another one, even if it looks the same.
"""


@dataclass(frozen=True)
class Scan(Plan):
    """A source, read under an alias; its columns are named `alias.column`.

    `rows` is the number of rows of a relation, where it is known. The last column of a
    time-varying relation is its `VERSION`. `recurs` tells how often a stream may have rows with
    the same values in some columns, where that is promised.
    """

    source: str
    alias: str
    columns: Schema
    kind: SourceKind = SourceKind.STREAM
    bounded: bool = False
    rows: int | None = None
    recurs: Recurrence | None = None

    @cached_property
    def schema(self) -> Schema:
        return Schema(tuple(Field(f"{self.alias}.{f.name}", f.type) for f in self.columns))

    def details(self) -> str:
        alias = f" as {self.alias}" if self.alias != self.source else ""
        kind = "" if self.kind is SourceKind.STREAM else f" {self.kind.value}"
        return f"{self.source}{alias} columns=[{', '.join(self.columns.names)}]{kind}"


@dataclass(frozen=True)
class Unary(Plan):
    """An operator with one input whose columns it keeps."""

    child: Plan

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema


@dataclass(frozen=True)
class Filter(Unary):
    """Keep the rows for which the predicate is true (not NULL)."""

    predicate: Scalar

    def details(self) -> str:
        return str(self.predicate)


@dataclass(frozen=True)
class Project(Unary):
    """Compute new rows from single rows (the map operator)."""

    items: tuple[tuple[str, Scalar], ...]

    @cached_property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, scalar.type) for name, scalar in self.items))

    def details(self) -> str:
        parts = (
            name if scalar.is_column and scalar.node.name == name else f"{name} := {scalar}"
            for name, scalar in self.items
        )
        return f"[{', '.join(parts)}]"

    @staticmethod
    def renaming(child: Plan, names: tuple[str, ...]) -> Project:
        """The child under other column names."""
        items = (
            (new, column(field.name, field.type))
            for new, field in zip(names, child.schema, strict=True)
        )
        return Project(child, tuple(items))


@dataclass(frozen=True)
class Adjustable(Unary):
    """An operator with a size that may change while it runs.

    `bounds` are the smallest and largest size that the user allows. `changes` are the sizes of
    rows that start later. Operators that are adjusted together have a name in common, their
    `knob`; a size that is never adjusted has none.
    """

    bounds: Bounds | None = field(default=None, kw_only=True)
    changes: Changes = field(default=(), kw_only=True)
    knob: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        check_changes(self.first, self.changes)

    @property
    @abstractmethod
    def first(self) -> int | None:
        """The size before all changes."""

    @property
    def current(self) -> int | None:
        """The size since the last change."""
        return self.changes[-1][1] if self.changes else self.first

    @property
    def is_fixed(self) -> bool:
        """Whether the size is the same now and ever after."""
        return self.bounds is None and not self.changes and not self.knob

    def size_details(self, word: str, low: str, high: str, slide: int = 1) -> str:
        """The size for people; `low` and `high` are what its bounds are called."""
        parts = [f"{word}={shown_size(self.first, self.changes)}"]
        if slide != 1:
            parts.append(f"slide={slide}")
        if self.bounds is not None:
            parts.append(f"{low}={self.bounds.low} {high}={self.bounds.high}")
        if self.knob:
            parts.append(f"knob={self.knob}")
        return " ".join(parts)


@dataclass(frozen=True)
class TimeWindow(Adjustable):
    """Every row holds for `size` instants (None: for ever); it moves every `slide` instants.

    With a `delay`, all is as if every row came `delay` instants later.
    """

    size: int | None
    slide: int = 1
    delay: int = 0

    @property
    def first(self) -> int | None:
        return self.size

    def details(self) -> str:
        delay = f" delay={self.delay}" if self.delay else ""
        return self.size_details("range", "min", "max", self.slide) + delay


@dataclass(frozen=True)
class CountWindow(Adjustable):
    """The last `rows` rows (None: all), per partition, moving every `slide` rows.

    Rows of one instant are ordered by their values. If the number changes, a row goes when as many
    have come after it as the number was when it came; if the window slides, with the slide that
    takes in the last of them.
    """

    rows: int | None
    slide: int = 1
    partition_by: tuple[str, ...] = ()

    @property
    def first(self) -> int | None:
        return self.rows

    def details(self) -> str:
        by = f"by=[{', '.join(self.partition_by)}] " if self.partition_by else ""
        return by + self.size_details("rows", "min", "max", self.slide)


@dataclass(frozen=True)
class SessionWindow(Unary):
    """All rows of the session that goes on, per partition.

    A session ends when no row has come for `gap` instants; the next row starts another one.
    """

    gap: int
    partition_by: tuple[str, ...] = ()

    def details(self) -> str:
        by = f"by=[{', '.join(self.partition_by)}] " if self.partition_by else ""
        return f"{by}gap={self.gap}"


@dataclass(frozen=True)
class Granularity(Adjustable):
    """Only instants that are multiples of the granule count.

    The granule in force when a row starts decides about its start and its end. So it can change
    only where rows are those of a stream or of its window, not pieces of what holds on: see
    `tidemill.algebra.whole_rows`.
    """

    granule: int

    @property
    def first(self) -> int:
        return self.granule

    @property
    def current(self) -> int:
        return self.changes[-1][1] if self.changes else self.granule

    def details(self) -> str:
        return self.size_details("granule", "finest", "coarsest")


@dataclass(frozen=True)
class Distinct(Unary):
    """Every row at most once per instant."""


@dataclass(frozen=True)
class Aggregate(Unary):
    """One row per group and instant; no row where the group is empty."""

    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]

    @cached_property
    def schema(self) -> Schema:
        results = tuple(Field(call.name, call.type) for call in self.calls)
        return Schema(self.child.schema.select(self.keys).fields + results)

    def details(self) -> str:
        by = f"by=[{', '.join(self.keys)}] " if self.keys else ""
        return f"{by}[{', '.join(map(str, self.calls))}]"


@dataclass(frozen=True)
class SortKey:
    """One part of an ORDER BY."""

    column: str
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        direction = " DESC" if self.descending else ""
        usual = self.nulls_first != self.descending
        nulls = "" if usual else (" NULLS FIRST" if self.nulls_first else " NULLS LAST")
        return f"{self.column}{direction}{nulls}"


@dataclass(frozen=True)
class TopK(Unary):
    """The first `limit` rows of every instant, after `offset`; ties are ordered by the row.

    If `approximate`, an answer may be given that is right only for the most part: more of it is if
    this, the confidence in what is likely, is larger.
    """

    order: tuple[SortKey, ...]
    limit: int
    offset: int = 0
    approximate: float | None = None

    def details(self) -> str:
        offset = f" offset={self.offset}" if self.offset else ""
        approximate = f" approximate={self.approximate:g}" if self.approximate is not None else ""
        order = ", ".join(map(str, self.order))
        return f"order=[{order}] limit={self.limit}{offset}{approximate}"


@dataclass(frozen=True)
class Istream(Unary):
    """The rows that came: copies now beyond those of the instant before."""


@dataclass(frozen=True)
class Dstream(Unary):
    """The rows about to go: copies now beyond those of the next instant."""


@dataclass(frozen=True)
class Rstream(Unary):
    """Every row at every instant at which it holds."""


@dataclass(frozen=True)
class Binary(Plan):
    """An operator with two inputs that keeps the columns of the left one."""

    left: Plan
    right: Plan

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema


@dataclass(frozen=True)
class Conditional(Binary):
    """A binary operator with a condition over the columns of both inputs."""

    condition: Scalar | None

    def details(self) -> str:
        return "" if self.condition is None else f"on {self.condition}"


@dataclass(frozen=True)
class Join(Conditional):
    """All pairs of rows that hold together and meet the condition (None: all pairs)."""

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema


@dataclass(frozen=True)
class MultiJoin(Plan):
    """All combinations of rows that hold together, one of each input.

    They agree in the `keys`: columns of every input (none, if an input has no part in it),
    position by position; and meet the conditions. `orders[i]` tells in which order inputs are
    looked through for partners of new rows of input i; it has no meaning for the result.
    """

    inputs: tuple[Plan, ...]
    keys: tuple[tuple[str, ...], ...]
    conditions: tuple[Scalar, ...] = ()
    orders: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return reduce(add, (child.schema for child in self.inputs))

    @cached_property
    def condition(self) -> Scalar | None:
        """Everything that combinations must meet."""
        keyed = [columns for columns in self.keys if columns]
        equal = [
            equality(column(one, self.schema[one]), column(other, self.schema[other]))
            for columns in keyed[1:]
            for one, other in zip(keyed[0], columns, strict=True)
        ]
        return conjunction(*equal, *self.conditions)

    def details(self) -> str:
        keyed = [columns for columns in self.keys if columns]
        equal = [" = ".join(columns) for columns in zip(*keyed, strict=True)]
        orders = [
            " ".join(input_name(self.inputs[number]) for number in order) for order in self.orders
        ]
        parts = (" AND ".join([*equal, *map(str, self.conditions)]), "; ".join(orders))
        on, found = parts
        return " ".join(filter(None, (f"on {on}" if on else "", f"orders=[{found}]")))


def input_name(plan: Plan) -> str:
    """An input of a join, for people: the entries of FROM whose columns it has."""
    return "+".join(entries(plan)) or plan.label


def entries(plan: Plan) -> tuple[str, ...]:
    """The entries of FROM that columns of the plan belong to: an entry `b` has columns `b.item`."""
    found = (name.partition(".") for name in plan.schema.names if not name.startswith("#"))
    return tuple(dict.fromkeys(entry for entry, dot, _ in found if dot))


@dataclass(frozen=True)
class SemiJoin(Conditional):
    """Left rows, once each, while some right row meets the condition."""


@dataclass(frozen=True)
class AntiJoin(Conditional):
    """Left rows while no right row meets the condition."""
