"""Plans as trees."""

from __future__ import annotations

from enum import StrEnum

from rich.text import Text
from rich.tree import Tree

from tidemill import Query


class Level(StrEnum):
    """Which plan."""

    LOGICAL = "logical"
    OPTIMIZED = "optimized"
    VERBOSE = "verbose"
    PHYSICAL = "physical"
    FRAGMENTS = "fragments"
    COST = "cost"


TEXTS = (Level.VERBOSE, Level.FRAGMENTS, Level.COST)
"""Levels that show several plans, or a table."""


def plan_lines(query: Query, level: Level) -> list[str]:
    """The lines of a plan, without its title and the warnings behind it."""
    lines = query.explain(level.value).split("\n")[1:]
    shown = sum(str(warning).count("\n") + 1 for warning in query.warnings)
    return lines[: len(lines) - shown]


def plan_tree(lines: list[str]) -> Tree:
    """The lines of a plan as a tree: two more spaces in front are one level down.

    >>> len(plan_tree(["01 Join", "02   Scan a", "03   Scan b"]).children)
    2
    """
    open_nodes: list[Tree] = []
    for line in lines:
        text = line.partition(" ")[2]
        depth = (len(text) - len(text.lstrip())) // 2
        label = _label(text.lstrip())
        node = Tree(label) if depth == 0 else open_nodes[depth - 1].add(label)
        open_nodes[depth:] = [node]
    return open_nodes[0]


def _label(text: str) -> Text:
    name, space, details = text.partition(" ")
    return Text.assemble((name, "bold cyan"), space, details)
