"""Plans as trees."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from tidemill.explain import Explanation, PlanLine


def drawn(explanation: Explanation) -> Tree | Text:
    """A plan as a tree; several plans, or a table, as text."""
    return plan_tree(explanation.lines) if explanation.is_tree else Text(explanation.body)


def plan_tree(lines: Sequence[PlanLine]) -> Tree:
    """The lines of a plan as a tree.

    >>> from tidemill.explain import numbered
    >>> len(plan_tree(numbered([(0, "Join", ""), (1, "Scan", "a"), (1, "Scan", "b")])).children)
    2
    """
    open_nodes: list[Tree] = []
    for line in lines:
        label = Text.assemble((line.operator, "bold cyan"), line.label[len(line.operator) :])
        node = Tree(label) if line.depth == 0 else open_nodes[line.depth - 1].add(label)
        open_nodes[line.depth :] = [node]
    return open_nodes[0]
