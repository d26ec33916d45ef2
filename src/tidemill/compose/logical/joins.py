"""Joins: rows of two inputs that belong together."""

from __future__ import annotations

from tidemill.algebra import AntiJoin, Join, Plan, SemiJoin
from tidemill.analyze.joins import joined
from tidemill.compose.bench import Bench
from tidemill.compose.operators import Card, Setting


def _join(bench: Bench) -> Plan:
    left, right = (piece.plan for piece in bench.inputs)
    return Join(left, right, bench.condition("condition", bench.stage(left, right)))


def _outer_join(bench: Bench) -> Plan:
    left, right = (piece.plan for piece in bench.inputs)
    condition = bench.condition("condition", bench.stage(left, right))
    return joined(left, right, condition, bench.choice("side").upper())


def _semi_join(bench: Bench) -> Plan:
    left, right = (piece.plan for piece in bench.inputs)
    condition = bench.condition("condition", bench.stage(left, right))
    kind = SemiJoin if bench.operator.kind == "semi_join" else AntiJoin
    return kind(left, right, condition)


_EXAMPLE = "b.item = a.item"


def _condition(help: str, required: bool = False) -> Setting:
    return Setting("condition", "Condition", "condition", help, _EXAMPLE, required=required)


OPERATORS = (
    Card(
        "join",
        "Join",
        "join",
        "Joins rows of two inputs that hold at the same time and satisfy a condition.",
        _join,
        (_condition("When two rows match; without a condition, every row matches every other."),),
        2,
        2,
    ),
    Card(
        "outer_join",
        "Outer join",
        "join",
        "A join that also keeps rows without a partner, padded with NULL.",
        _outer_join,
        (
            Setting(
                "side",
                "Side",
                "choice",
                "The input whose unmatched rows are kept: left, right, or both.",
                "left",
                default="left",
                choices=("left", "right", "full"),
            ),
            _condition("When two rows match.", required=True),
        ),
        2,
        2,
    ),
    Card(
        "semi_join",
        "Semi-join",
        "join",
        "Keeps rows of the left input while they have a match in the right one (EXISTS).",
        _semi_join,
        (_condition("When two rows match; without a condition, any row does."),),
        2,
        2,
    ),
    Card(
        "anti_join",
        "Anti-join",
        "join",
        "Keeps rows of the left input while they have no match in the right one (NOT EXISTS).",
        _semi_join,
        (_condition("When two rows match; without a condition, any row does."),),
        2,
        2,
    ),
)
