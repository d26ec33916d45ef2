"""Set operations on inputs with the same columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tidemill.algebra import Plan
from tidemill.compose.bench import Bench
from tidemill.compose.logical.sets import alike
from tidemill.compose.operators import Operator
from tidemill.compose.physical.making import LOGICAL, functions_of, ordinary, waiting
from tidemill.compose.physical.rows import KEYS, keys_of
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.sets import (
    DifferenceExec,
    IntersectionExec,
    MaxUnionExec,
    StrictDifferenceExec,
)
from tidemill.physical.union import UnionExec

_COUNTING: Final[dict[str, Callable[..., Any]]] = {
    "difference": DifferenceExec,
    "strict_difference": StrictDifferenceExec,
    "intersection": IntersectionExec,
    "max_union": MaxUnionExec,
}


def _sides(bench: Bench) -> list[Exec]:
    ordinary(bench)
    plans = alike([piece.plan for piece in bench.inputs])
    return [lower(plan, functions_of(bench)) for plan in plans]


def _union(bench: Bench) -> Plan:
    left, right = _sides(bench)
    return UnionExec(left, right)


def _counting(bench: Bench) -> Plan:
    left, right = _sides(bench)
    plan: Plan = _COUNTING[bench.operator.kind](waiting(left), waiting(right), keys_of(bench))
    return plan


OPERATORS = (
    Operator("union", "Union", "sets", LOGICAL["union"].summary, _union, (), 2, 2),
    *(
        Operator(
            kind,
            LOGICAL[kind].title,
            "sets",
            LOGICAL[kind].summary,
            _counting,
            (KEYS,),
            2,
            2,
        )
        for kind in _COUNTING
    ),
)
