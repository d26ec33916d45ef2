"""Aggregate functions: the built-in ones, and those that users define."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidemill.algebra.code import code_version
from tidemill.algebra.collected import COLLECTED
from tidemill.algebra.paired import PAIRED
from tidemill.algebra.types import is_numeric

EXTREMES = frozenset({"MIN", "MAX"})
VARIANCES = frozenset({"VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP"})
BUILT_IN = frozenset({"COUNT", "SUM", "AVG", *EXTREMES, *VARIANCES, *COLLECTED, *PAIRED})

SUM_LOW, SUM_HIGH = "SUM_LOW", "SUM_HIGH"
"""The sum of whole numbers in two columns, so that it always fits: it is high * 2 ** 32 + low, with
0 <= low < 2 ** 32. Plans use them where a sum is not yet the answer."""

SUM_EXACT = "SUM_EXACT"
"""The sum of doubles or decimals in one column, for the same use (`algebra.exact_sums`)."""


@dataclass(frozen=True)
class UserAggregate:
    """An aggregate given as three functions.

    `init` turns a value into a partial result, `merge` joins two partial results (it must not
    care about their order), `eval` turns a partial result into the answer. NULLs are left out.
    Elsewhere, and in checkpoints, it is known by its name and `version`: the one it is given, or
    else one that follows from its code.
    """

    name: str
    init: Callable[[Any], Any] = field(compare=False)
    merge: Callable[[Any, Any], Any] = field(compare=False)
    eval: Callable[[Any], Any] = field(compare=False)
    type: pa.DataType
    version: str | None = None

    def __post_init__(self) -> None:
        if self.version is None:
            version = code_version(self.init, self.merge, self.eval)
            object.__setattr__(self, "version", version)


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate of a grouping: `name` is the column that it fills.

    `argument` is a column of the input; None means COUNT(*). Where rows stand for many, columns
    `weights` tell for how many: their product. Where they stand for groups of which the sum is
    known, `parts` are the columns with the number of values in the group, and with the sum as
    SUM_LOW and SUM_HIGH, or as SUM_EXACT; they take the place of an argument. `options` are
    constants that the function takes besides, such as the share of a percentile.
    """

    name: str
    function: str
    argument: str | None
    type: pa.DataType
    distinct: bool = False
    user: UserAggregate | None = None
    weights: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()

    @property
    def is_extreme(self) -> bool:
        """Whether one of the values is the answer, however often each occurs."""
        return self.user is None and self.function in ("MIN", "MAX")

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the input that the call looks at."""
        argument = () if self.argument is None else (self.argument,)
        return frozenset((*argument, *self.weights, *self.parts))

    def __str__(self) -> str:
        distinct = "DISTINCT " if self.distinct else ""
        argument = " ".join(self.parts) or self.argument or "*"
        weights = "".join(f" x {weight}" for weight in self.weights)
        options = "".join(f", {option!r}" for option in self.options)
        return f"{self.name} := {self.function}({distinct}{argument}{weights}{options})"


class NotAggregable(ValueError):
    """The function does not take a column of this type."""


def result_type(
    function: str, argument: pa.DataType | None, options: tuple[Any, ...] = ()
) -> pa.DataType:
    """The type of an aggregate of a column, by Spark's rules.

    >>> result_type("SUM", pa.int32()), result_type("AVG", pa.int32())
    (DataType(int64), DataType(double))
    """
    if function == "COUNT":
        return pa.int64()
    assert argument is not None
    if function in ("MIN", "MAX"):
        if pa.types.is_map(argument) or pa.types.is_nested(argument):
            raise NotAggregable(function)
        return argument
    if function in COLLECTED:
        return _collected_type(function, argument, options)
    if function in PAIRED:
        return pa.float64()
    if not is_numeric(argument) and not pa.types.is_null(argument):
        raise NotAggregable(function)
    if function in VARIANCES or not pa.types.is_decimal(argument):
        whole = function == "SUM" and pa.types.is_integer(argument)
        return pa.int64() if whole else pa.float64()
    extra, scale = (10, 0) if function == "SUM" else (4, 4)
    return pa.decimal128(min(38, argument.precision + extra), min(38, argument.scale + scale))


def _collected_type(function: str, argument: pa.DataType, options: tuple[Any, ...]) -> pa.DataType:
    """The type of a list or quantile; of several columns, the first is the value."""
    if function == "PERCENTILE":
        if not is_numeric(argument) and not pa.types.is_null(argument):
            raise NotAggregable(function)
        value: pa.DataType = pa.float64()
    elif function in ("MIN_BY", "MAX_BY") or (function == "COLLECT_LIST" and options):
        value = argument.field(0).type
    elif function == "STRING_AGG":
        texts = argument.field(0).type if len(options) > 1 else argument
        if not pa.types.is_string(texts) and not pa.types.is_null(texts):
            raise NotAggregable(function)
        value = pa.string()
    else:
        value = argument
    several = function.startswith("PERCENTILE") and isinstance(options[0], tuple)
    return pa.list_(value) if function == "COLLECT_LIST" or several else value
