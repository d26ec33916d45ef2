"""The join of four streams as trees of nested loops, as the text has them and as Parallel Track
wants them.

Our rows carry the time in which they hold. A combined row holds while all its parts do, and is
forgotten when the first of them expires. In Parallel Track rows carry the times of all their parts,
and a mark that tells whether one of them came before the migration; a combined row is kept for a
window after its newest part.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Scan, Schema
from tidemill.algebra.scalar import Scalar, column, column_node, conjunction
from tidemill.physical.operator import Exec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.time_window import TimeWindowExec

STREAMS = ("A", "B", "C", "D")
OLD = ((("A", "B"), "C"), "D")
NEW = ("A", ("B", ("C", "D")))
LATER = "'"
"""Marks streams that begin with the migration."""

Tree = str | tuple["Tree", "Tree"]
Streams = tuple[str, ...]


def parts(tree: Tree) -> Streams:
    """The streams of a tree, in order."""
    return (tree,) if isinstance(tree, str) else (*parts(tree[0]), *parts(tree[1]))


def intervals(tree: Tree, window: int) -> Exec:
    """The tree over rows that know when they hold."""
    if isinstance(tree, str):
        return TimeWindowExec(SourceExec(Scan(tree, tree, Schema.of(k=pa.int64()))), window)
    return _joined(tree, [intervals(side, window) for side in tree])


@dataclass(frozen=True)
class Tracked:
    """A tree over rows with marks, and all of its parts that keep rows."""

    root: Exec
    kept: tuple[Exec, ...]


def tracked(tree: Tree, window: int, mark: str = "") -> Tracked:
    """The tree over rows that know when their parts came, and whether one of them is old."""
    if isinstance(tree, str):
        columns = Schema.of(k=pa.int64(), ts=pa.int64(), old=pa.bool_())
        rows = TimeWindowExec(SourceExec(Scan(tree + mark, tree, columns)), window)
        return Tracked(rows, (rows,))
    sides = [tracked(side, window, mark) for side in tree]
    kept = tuple(part for side in sides for part in side.kept)
    found = _marked(_joined(tree, [side.root for side in sides], window), tree)
    again = TimeWindowExec(found, window)
    return Tracked(again, (*kept, again))


def _joined(tree: tuple[Tree, Tree], sides: list[Exec], window: int | None = None) -> Exec:
    left, right = (parts(side) for side in tree)
    keys = ((f"{left[0]}.k",), (f"{right[0]}.k",))
    tests = [_costly(left[0], right[0]), *([] if window is None else _near(left, right, window))]
    condition = conjunction(*(Scalar(test, pa.bool_()) for test in tests))
    assert condition is not None
    return JoinExec(tuple(sides), keys, (condition,), buckets=(1, 1))


def _costly(left: str, right: str) -> exp.Expression:
    """A part of the predicate that is always true and takes time."""
    values = [exp.func("SIN", column_node(f"{name}.k")) for name in (left, right)]
    return exp.LT(this=exp.Add(this=values[0], expression=values[1]), expression=exp.convert(3))


def _near(left: Streams, right: Streams, window: int) -> list[exp.Expression]:
    """No part of one side came a window before a part of the other."""
    pairs = [*((a, b) for a in left for b in right), *((b, a) for a in left for b in right)]
    return [
        exp.LT(
            this=exp.Sub(this=column_node(f"{late}.ts"), expression=column_node(f"{early}.ts")),
            expression=exp.convert(window),
        )
        for late, early in pairs
    ]


def _marked(join: Exec, tree: tuple[Tree, Tree]) -> Exec:
    """The row with one mark instead of two."""
    one, other = (f"{parts(side)[0]}.old" for side in tree)
    either = Scalar(exp.Or(this=column_node(one), expression=column_node(other)), pa.bool_())
    kept = [field for field in join.schema if not field.name.endswith(".old")]
    items = tuple((field.name, column(field.name, field.type)) for field in kept)
    return ProjectExec(join, (*items, (one, either)))
