"""Aggregation: one row per group and instant."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any

import pyarrow as pa

from tidemill.algebra import Aggregate, AggregateCall, UserAggregate
from tidemill.algebra.aggregates import SUM_EXACT, SUM_HIGH, SUM_LOW
from tidemill.algebra.collected import COLLECTED
from tidemill.algebra.exact_sums import ExactSum, unit_of
from tidemill.algebra.order import value_key
from tidemill.algebra.paired import PAIRED
from tidemill.reference import exact
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, Snapshot, canonical

BUILT_IN: dict[str, Callable[[list[Any], pa.DataType], Any]] = {
    "SUM": exact.sum_of,
    SUM_LOW: lambda values, _: sum(values) & 0xFFFFFFFF,
    SUM_HIGH: lambda values, _: sum(values) >> 32,
    SUM_EXACT: lambda values, _: exact.partial_sum(values).to_bytes(),
    "AVG": exact.average,
    "MIN": lambda values, _: min(values, key=value_key),
    "MAX": lambda values, _: max(values, key=value_key),
    "VAR_SAMP": lambda values, _: exact.variance(values, len(values) - 1),
    "VAR_POP": lambda values, _: exact.variance(values, len(values)),
    "STDDEV_SAMP": lambda values, _: exact.deviation(values, len(values) - 1),
    "STDDEV_POP": lambda values, _: exact.deviation(values, len(values)),
}
"""The functions of at least one value, none of them NULL, and of the type of the answer."""


def aggregate(plan: Aggregate, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """One row per group of a snapshot; none where there is no row, grouped or not."""
    names = plan.child.schema.names
    keys = [names.index(key) for key in plan.keys]

    def answers(t: int) -> Snapshot:
        groups: dict[Row, list[Row]] = defaultdict(list)
        for row in child.at(t).elements():
            groups[tuple(row[key] for key in keys)].append(row)
        return Counter(
            key + tuple(answer_of(call, names, rows) for call in plan.calls)
            for key, rows in groups.items()
        )

    return LogicalStream.build(run.horizon, answers)


def answer_of(call: AggregateCall, names: tuple[str, ...], rows: list[Row]) -> Any:
    """One aggregate of some rows."""
    weights = [names.index(name) for name in call.weights]
    copies = [prod(row[weight] for weight in weights) for row in rows]
    if call.parts:
        return _of_parts(call, [names.index(part) for part in call.parts], rows, copies)
    if call.argument is None:
        return sum(copies)
    position = names.index(call.argument)
    values = [
        row[position]
        for row, times in zip(rows, copies, strict=True)
        if row[position] is not None
        for _ in range(times)
    ]
    if call.distinct:
        values = list(dict.fromkeys(values))
    if call.user is None and call.function == "COUNT":
        return len(values)
    if not values:
        return None
    if call.user is not None:
        return canonical(_fold(call.user, values))
    if call.function in COLLECTED:
        return canonical(COLLECTED[call.function](values, call.options))
    if call.function in PAIRED:
        return canonical(exact.of_pairs(call.function, values))
    return canonical(BUILT_IN[call.function](values, call.type))


def _of_parts(call: AggregateCall, at: list[int], rows: list[Row], copies: list[int]) -> Any:
    """SUM or AVG of values of which rows tell the count and the sum."""
    number, sums = 0, list[exact.Number]()
    for row, times in zip(rows, copies, strict=True):
        count, *parts = (row[position] for position in at)
        if count and times:
            number += count * times
            finite, *special = _sums(parts, call.type)
            sums += [finite * times, *special]
    if number == 0:
        return None
    if call.function == "SUM":
        return canonical(exact.sum_of(sums, call.type))
    return canonical(exact.mean_of(sums, number, call.type))


def _sums(parts: list[Any], summed: pa.DataType) -> list[exact.Number]:
    """What a partial sum stands for: a number, and NaN or infinities if they were in it."""
    if len(parts) == 2:
        low, high = parts
        return [Fraction((high << 32) + low)]
    total = ExactSum.of_bytes(parts[0])
    return [total.units * unit_of(pa.types.is_decimal(summed)), *exact.special_values(total)]


def _fold(function: UserAggregate, values: list[Any]) -> Any:
    return function.eval(reduce(function.merge, map(function.init, values)))
