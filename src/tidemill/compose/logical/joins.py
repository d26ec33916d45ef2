"""Joins: rows of two inputs that belong together."""

from __future__ import annotations

from tidemill.algebra import AntiJoin, Join, Plan, SemiJoin
from tidemill.analyze.joins import joined
from tidemill.compose.bench import Bench
from tidemill.compose.operators import Operator, Setting


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
    Operator(
        "join",
        "Join",
        "join",
        "Puts together rows of two inputs that hold at the same time and meet a condition.",
        _join,
        (_condition("What two rows must meet; without it, every row meets every other."),),
        2,
        2,
    ),
    Operator(
        "outer_join",
        "Outer join",
        "join",
        "A join that also keeps rows while they have no partner, with NULL in its place.",
        _outer_join,
        (
            Setting(
                "side",
                "Side",
                "choice",
                "Whose rows are kept: those of the left input, of the right one, or of both.",
                "left",
                default="left",
                choices=("left", "right", "full"),
            ),
            _condition("What two rows must meet.", required=True),
        ),
        2,
        2,
    ),
    Operator(
        "semi_join",
        "Semi-join",
        "join",
        "Keeps rows of the left input while some row of the right one meets a condition (EXISTS).",
        _semi_join,
        (_condition("What two rows must meet; without it, any row will do."),),
        2,
        2,
    ),
    Operator(
        "anti_join",
        "Anti-join",
        "join",
        "Keeps rows of the left input while no row of the right one meets it (NOT EXISTS).",
        _semi_join,
        (_condition("What no two rows may meet; without it, there may be no row at all."),),
        2,
        2,
    ),
)
