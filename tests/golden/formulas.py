"""Derived operators as the text's formulas define them, where ours differ from it."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import AntiJoin, Difference, Distinct, Join, Plan, Project, Scalar, TimeWindow
from tidemill.algebra.scalar import column, column_node


def formula_semi_join(left: Plan, right: Plan, comparison: type[exp.Binary]) -> Plan:
    """Formula 8.11: the left columns of a join with the distinct right rows."""
    left, right = renamed(left, "l"), Distinct(renamed(right, "r"))
    condition = comparison(this=column_node("l0"), expression=column_node("r0"))
    joined = Join(left, right, Scalar(condition, pa.bool_()))
    items = tuple((field.name, column(field.name, field.type)) for field in left.schema)
    return Project(joined, items)


def before(stream: Plan) -> Plan:
    """What held one instant ago: a window of two instants less the present."""
    return Difference(TimeWindow(stream, 2), stream)


def istream_17_3(stream: Plan) -> Plan:
    """Formula 17.3: the present without rows equal to one of the instant before."""
    return _equi_anti_join(stream, before(stream))


def dstream_17_4(stream: Plan) -> Plan:
    """Formula 17.4: the instant before without rows equal to one of the present."""
    return _equi_anti_join(before(stream), stream)


def istream_in_words(stream: Plan) -> Plan:
    """The words of 17.2: the snapshot of t less that of t - 1."""
    return Difference(stream, before(stream))


def dstream_in_words(stream: Plan) -> Plan:
    """The words of 17.2: the snapshot of t - 1 less that of t, so dated at t."""
    return Difference(before(stream), stream)


def _equi_anti_join(left: Plan, right: Plan) -> Plan:
    equal = [
        exp.EQ(this=column_node(f"l{n}"), expression=column_node(f"r{n}"))
        for n in range(len(left.schema))
    ]
    condition = Scalar(exp.and_(*equal), pa.bool_())
    return AntiJoin(renamed(left, "l"), renamed(right, "r"), condition)


def renamed(plan: Plan, letter: str) -> Plan:
    """The columns of a plan as l0, l1, … so that both inputs of a join have their own names."""
    return Project.renaming(plan, tuple(f"{letter}{n}" for n in range(len(plan.schema))))
