"""Two projections, one above the other."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from tidemill.algebra.nodes import Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.optimize.expressions import inlined, is_small


def merge_projects(plan: Plan) -> Plan:
    """Join adjacent projections into one.

    >>> from tidemill.optimize.examples import show
    >>> show(merge_projects, "SELECT x + 1 AS y FROM (SELECT price * 2 AS x FROM bid)")
    01 Project [y := subquery1.x + 1]
    02   Project [subquery1.x := bid.price * 2]
    03     Scan bid columns=[item, price]
    =>
    01 Project [y := (bid.price * 2) + 1]
    02   Scan bid columns=[item, price]
    """
    match plan:
        case Project(Project(child, lower), upper):
            parts = dict(lower)
            if _once(upper, parts):
                items = tuple((name, inlined(item, parts, child.schema)) for name, item in upper)
                if all(is_small(item, child.schema) for _, item in items):
                    return Project(child, items)
        # One that only repeats its input.
        case Project(child, items) if _names(items) == child.schema.names:
            return child
    return plan


def _once(upper: tuple[tuple[str, Scalar], ...], parts: dict[str, Scalar]) -> bool:
    """Whether nothing that takes work would be computed twice."""
    nodes = (node for _, item in upper for node in item.node.find_all(exp.Column))
    uses = Counter(node.name for node in nodes)
    return all(uses[name] <= 1 or _is_free(part) for name, part in parts.items())


def _is_free(part: Scalar) -> bool:
    return isinstance(part.node, exp.Column | exp.Literal | exp.Null | exp.Boolean)


def _names(items: tuple[tuple[str, Scalar], ...]) -> tuple[str, ...] | None:
    same = all(item.is_column and item.node.name == name for name, item in items)
    return tuple(name for name, _ in items) if same else None
