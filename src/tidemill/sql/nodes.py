"""The syntax-tree nodes that Tidemill adds to those of sqlglot."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Final

from sqlglot import exp

__all__ = [
    "STREAM_FUNCTIONS",
    "UNIT_MICROS",
    "AlterNamed",
    "Approximate",
    "AtMost",
    "CommandQuery",
    "Connector",
    "CreateAs",
    "CreateSource",
    "DropNamed",
    "Duration",
    "GranularityClause",
    "HintCall",
    "InsertSink",
    "ObjectsClause",
    "PlanText",
    "RowCount",
    "StreamFunction",
    "StreamWindow",
    "Unbounded",
    "ValueRange",
    "WindowTable",
]

UNIT_MICROS: Final[dict[str, int]] = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""Microseconds per time unit. Months and years are missing: their length is not fixed."""

STREAM_FUNCTIONS: Final = frozenset({"ISTREAM", "DSTREAM", "RSTREAM"})


class Duration(exp.Expression):
    """A length of time: a number and a unit, or a plain number of ticks.

    >>> Duration(this=exp.Literal.number("1.5"), unit=exp.var("SECOND")).micros
    1500000
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "unit": False}

    @property
    def value(self) -> Decimal:
        """The number as it was written."""
        return Decimal(self.text("this"))

    @property
    def unit(self) -> str | None:
        """The unit in singular and upper case, or None for ticks."""
        return self.text("unit") or None

    @property
    def ticks(self) -> int:
        """The number of ticks of a duration without unit."""
        if self.unit is not None:
            raise ValueError(f"a duration in {self.unit} has no number of ticks")
        return int(self.value)

    @property
    def micros(self) -> int:
        """The number of microseconds of a duration with unit."""
        if self.unit is None:
            raise ValueError("a duration without unit has no length in microseconds")
        return int(self.value * UNIT_MICROS[self.unit])


class RowCount(exp.Expression):
    """A whole number of rows."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @property
    def value(self) -> int:
        """The number of rows."""
        return int(self.text("this"))


class Unbounded(exp.Expression):
    """The size of a window that never drops a row."""

    arg_types: ClassVar[dict[str, bool]] = {}


class StreamWindow(exp.Expression):
    """The window over a stream: `kind` is RANGE, ROWS, SESSION or NOW.

    `size` is a Duration, RowCount or Unbounded; or `min` and `max` bound it. `slide` is of
    the same type as the size, `partition_by` a list of columns (not with RANGE), `delay` a Duration
    (RANGE only).
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "size": False,
        "min": False,
        "max": False,
        "partition_by": False,
        "slide": False,
        "delay": False,
    }


class GranularityClause(exp.Expression):
    """The granule of a window's result: one `size`, or bounds `coarsest` and `finest`."""

    arg_types: ClassVar[dict[str, bool]] = {"size": False, "coarsest": False, "finest": False}


class StreamFunction(exp.Expression):
    """ISTREAM, DSTREAM or RSTREAM (`kind`) around a query, or a table inside FROM (`this`)."""

    # The parser of WITH needs `with_` for a moment; it moves on into the query, see streams.py.
    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True, "with_": False}


class WindowTable(exp.Expression):
    """TUMBLE, HOP, CUMULATE or SESSION (`kind`) over a table or query (`data`), as in SQL:2016.

    The size of a SESSION is its gap; each combination of `partition_by` has sessions of its own.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "data": True,
        "timecol": True,
        "partition_by": False,
        "slide": False,
        "step": False,
        "size": True,
        "offset": False,
    }


class Connector(exp.Expression):
    """A source or sink: the format (`this`), then literals and `exp.Kwarg` options."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}


class CreateSource(exp.Expression):
    """CREATE STREAM or RELATION (`kind`) over a connector."""

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "this": True,
        "expressions": True,
        "source": False,
        "ordered_by": False,
        "slack": False,
        "retain": False,
        "ahead": False,
        "idle": False,
        "valid_from": False,
        "valid_to": False,
        "changing": False,
        "at_most": False,
        "exists": False,
        "replace": False,
    }


class ValueRange(exp.Expression):
    """BETWEEN the smallest value (`this`) AND the largest; others are an error or `clipped`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "clipped": False}


class AtMost(exp.Expression):
    """AT MOST some rows (`this`) PER value of columns (`expressions`), `within` some time."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True, "within": False}


class Approximate(exp.Expression):
    """APPROXIMATE behind a LIMIT, with a `confidence` perhaps."""

    arg_types: ClassVar[dict[str, bool]] = {"confidence": False}


class ObjectsClause(exp.Expression):
    """OBJECTS(streams BY columns): what streams (`expressions`) tell about each object."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True, "by": True}


class CreateAs(exp.Expression):
    """CREATE STREAM, RELATION, VIEW or QUERY (`kind`) named `this` from a query (`expression`).

    With `exists`, nothing happens if there is one; with `replace`, it takes the place of that.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "this": True,
        "expression": True,
        "exists": False,
        "replace": False,
    }


class PlanText(exp.Expression):
    """PLAN '...': a plan that was composed by hand, as JSON, in the place of a query."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class DropNamed(exp.Expression):
    """DROP STREAM, RELATION, VIEW or QUERY (`kind`)."""

    arg_types: ClassVar[dict[str, bool]] = {"kind": True, "this": True, "exists": False}


class CommandQuery(exp.Expression):
    """START or STOP (`verb`) a query; `partial` if it may answer before it is complete."""

    arg_types: ClassVar[dict[str, bool]] = {
        "verb": True,
        "this": True,
        "partial": False,
        "exists": False,
    }


class AlterNamed(exp.Expression):
    """ALTER QUERY: another definition (`expression`), or a better plan for the one it has."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": False, "exists": False}


class ShowNames(exp.Expression):
    """SHOW TABLES, STREAMS, ... (`kind`), or CREATE with a name (`this`)."""

    arg_types: ClassVar[dict[str, bool]] = {"kind": True, "this": False}


class DescribeNamed(exp.Expression):
    """DESCRIBE a name (`this`)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class ExplainNamed(exp.Expression):
    """EXPLAIN a query (`expression`) or the query of a name (`this`) at a `level`.

    With `analyze`, it is run, and shown with what was measured.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": False,
        "expression": False,
        "level": True,
        "analyze": False,
    }


class InsertSink(exp.Expression):
    """INSERT INTO a connector (`this`) the results of a query (`expression`)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class InsertRows(exp.Expression):
    """INSERT INTO a relation (`this`) rows (`expressions`), from an instant on (`at`)."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "columns": False,
        "expressions": True,
        "at": False,
    }


class DeleteRows(exp.Expression):
    """DELETE FROM a relation (`this`) the rows that meet `where`, from an instant on (`at`)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "where": False, "at": False}


class Shed(exp.Expression):
    """SHED TO some `rows` BY importances (`expressions`) USING a `policy`."""

    arg_types: ClassVar[dict[str, bool]] = {
        "rows": True,
        "expressions": False,
        "policy": True,
        "parameters": False,
    }


class HintCall(exp.Expression):
    """One hint: its `kind`, what it is about (`expressions`), and a number (`value`).

    `expressions` are names of streams (`exp.Identifier`), a column, or a condition. `unit` is the
    unit of time of a rate.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "expressions": False,
        "value": False,
        "unit": False,
    }
