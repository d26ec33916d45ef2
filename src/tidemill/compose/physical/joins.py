"""Joins: by hash or all pairs of several inputs, or lookups in a relation."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tidemill.algebra import Plan, Scalar, SourceKind
from tidemill.algebra.scalar import conjuncts
from tidemill.algebra.types import name_of
from tidemill.analyze.stage import PlanStage
from tidemill.compose.bench import Bench, placed_in
from tidemill.compose.model import about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.physical.making import (
    functions_of,
    is_raw,
    operators,
    ordinary,
    version_of,
    waiting,
)
from tidemill.errors import PlanError
from tidemill.physical.lowering.items import only, used
from tidemill.physical.lowering.relations import RelationInput, lookup
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.lookup import LookupKind
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.source import SourceExec
from tidemill.sql import error_at

_MOST = 16

Equality = tuple[dict[int, str], bool]
"""Columns that must be equal, by the number of their input, and whether NULL equals NULL."""


def _join(bench: Bench) -> Plan:
    ordinary(bench)
    plans = [piece.plan for piece in bench.inputs]
    stage = bench.stage(*plans)
    equal = list(_equalities(bench, plans, stage))
    keyed = set().union(*(columns for columns, _ in equal))
    for columns, _ in equal:
        if set(columns) != keyed:
            message = "every key compares columns of the same inputs"
            raise wrong(message, "move other comparisons to the condition", "keys")
    keys = tuple(tuple(columns[n] for columns, _ in equal if n in keyed) for n in range(len(plans)))
    condition, orders = bench.condition("condition", stage), _orders(bench, len(plans))
    safe = tuple(safe for _, safe in equal)
    return JoinExec(
        tuple(map(waiting, plans)),
        tuple(each if number in keyed else () for number, each in enumerate(keys)),
        _conditions(condition, len(plans)),
        # As the planner writes it, so that equal joins are shared.
        () if orders and not any(safe) else safe,
        orders,
        (1,) * len(plans) if bench.choice("method") == "nested loop" else (),
        used(functions_of(bench), condition),
    )


def _conditions(condition: Scalar | None, inputs: int) -> tuple[Scalar, ...]:
    """What is asked of combinations; of more than two rows, each part as early as possible."""
    if condition is None:
        return ()
    return (condition,) if inputs == 2 else conjuncts(condition)


def _equalities(bench: Bench, plans: list[Plan], stage: PlanStage) -> Iterator[Equality]:
    for text, node in bench.expressions("keys"):
        with about("keys"), placed_in(text):
            sides = list(_compared(node))
            safe = isinstance(node, exp.NullSafeEQ)
            if len(sides) < 2:
                help = "write for example b.item = a.item"
                raise error_at(PlanError, "a key compares columns of inputs", node, help)
            yield _by_input(bench, plans, stage, sides, node), safe


def _by_input(
    bench: Bench, plans: list[Plan], stage: PlanStage, sides: list[exp.Expr], node: exp.Expr
) -> dict[int, str]:
    found: dict[int, str] = {}
    types = set()
    for side in sides:
        bound = bench.bound(side, stage)
        if not isinstance(bound, exp.Column):
            help = "compute it with a Project below, or move the comparison to the condition"
            raise error_at(PlanError, "a key compares columns", side, help)
        number = next(n for n, plan in enumerate(plans) if bound.name in plan.schema)
        if number in found:
            help = "compare columns of different inputs"
            raise error_at(PlanError, "both columns are of one input", node, help)
        found[number] = bound.name
        types.add(plans[number].schema[bound.name])
    if len(types) > 1:
        shown = " and ".join(sorted(map(name_of, types)))
        help = "convert one with CAST in a Project below"
        raise error_at(PlanError, f"the columns have different types: {shown}", node, help)
    return found


def _compared(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.EQ | exp.NullSafeEQ):
        yield from _compared(node.left)
        yield from _compared(node.right)
    else:
        yield node


def _orders(bench: Bench, inputs: int) -> tuple[tuple[int, ...], ...]:
    text = bench.text("orders")
    if not text:
        return ()
    parts = [part.split() for part in text.split(";")]
    whole = all(sorted(part) == sorted(map(str, range(inputs))) for part in parts)
    if not whole or len(parts) != inputs:
        example = "; ".join(
            " ".join(map(str, [n, *(m for m in range(inputs) if m != n)])) for n in range(inputs)
        )
        message = "Orders takes, for each input, the order of all inputs"
        raise wrong(message, f"for example {example}", "orders")
    return tuple(tuple(map(int, part)) for part in parts)


def _lookup(bench: Bench) -> Plan:
    left, right = (piece.plan for piece in bench.inputs)
    if is_raw(left):
        ordinary(bench)
    relation = _relation(right)
    if relation is None:
        message = "rows can only be looked up in a relation"
        raise wrong(message, "use a Join", input=1)
    if relation.kind is not SourceKind.CONSTANT and not operators(left).validity.chronon:
        message = "rows of the left input hold longer than an instant, and the relation changes"
        raise wrong(message, "look it up below the window, or use a Join", input=0)
    condition = bench.condition("condition", bench.stage(left, right))
    kind = LookupKind(bench.choice("kind"))
    rows = operators(left)
    found = lookup(kind, rows, relation, condition, functions_of(bench))
    names = rows.schema.names
    return only(found, names + right.schema.names if kind is LookupKind.INNER else names)


def _relation(plan: Plan) -> RelationInput | None:
    sources = [node for node in plan.walk() if isinstance(node, SourceExec)]
    kinds = {node.scan.kind for node in sources}
    if kinds == {SourceKind.CONSTANT}:
        return RelationInput(waiting(plan), SourceKind.CONSTANT)
    source = plan
    while isinstance(source, FilterExec | ProjectExec):
        source = source.child
    if not isinstance(source, SourceExec) or source.scan.kind is SourceKind.STREAM:
        return None
    version = version_of(plan)
    if source.scan.kind is SourceKind.CHANGING and version is None:
        return None
    return RelationInput(operators(plan), source.scan.kind, version)


_EXAMPLE = "b.item = a.item"

OPERATORS = (
    Card(
        "join",
        "Join",
        "join",
        "Keeps the rows of all inputs, and finds matches for new ones by hash or by scanning.",
        _join,
        (
            Setting(
                "keys",
                "Keys",
                "columns",
                "Columns that must be equal, for the hash; with `<=>`, NULLs are equal.",
                _EXAMPLE,
            ),
            Setting(
                "condition",
                "Condition",
                "condition",
                "Further conditions on matching rows.",
                "b.price > a.ask",
            ),
            Setting(
                "method",
                "Method",
                "choice",
                "How rows with equal keys are found.",
                "hash",
                default="hash",
                choices=("hash", "nested loop"),
            ),
            Setting(
                "orders",
                "Orders",
                "text",
                "For new rows of each input, the order in which the inputs are searched.",
                "0 1 2; 1 0 2; 2 1 0",
            ),
        ),
        2,
        _MOST,
    ),
    Card(
        "lookup",
        "Lookup",
        "join",
        "Looks rows of the left input up in a relation when they start; keeps only that.",
        _lookup,
        (
            Setting(
                "kind",
                "Kind",
                "choice",
                "Whether a row comes out with each match, if it has one, or if it has none.",
                "inner",
                default="inner",
                choices=tuple(kind.value for kind in LookupKind),
            ),
            Setting(
                "condition",
                "Condition",
                "condition",
                "When a row and a row of the relation match.",
                _EXAMPLE,
            ),
        ),
        2,
        2,
    ),
)
