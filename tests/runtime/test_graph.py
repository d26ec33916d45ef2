"""Plans of a running graph are replaced by others: what stays, what goes, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl
import pyarrow as pa
import pytest

from tidemill.algebra import Schema
from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import nodes_of
from tidemill.physical.operator import Exec, Operator, empty_batch
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.union import UnionExec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.operators import Graph

SCHEMA = Schema.of(x=pa.int64())


def source(name: str) -> SourceExec:
    return SourceExec(Scan(name, "s", SCHEMA))


def windowed(name: str, size: int) -> TimeWindowExec:
    return TimeWindowExec(source(name), size)


def distinct(below: Exec) -> DistinctExec:
    return DistinctExec(below, below.schema.names)


A, B = distinct(windowed("a", 5)), distinct(windowed("a", 7))
BOTH = UnionExec(A, B)


def rows(graph: Graph, at: int) -> list[tuple[pl.DataFrame, int]]:
    """One row for every leaf."""
    batch = pl.DataFrame({"s.x": [1], "valid_from": [at], "valid_to": [at + 1]})
    return [(batch.select(empty_batch(leaf.schema).columns), at + 1) for leaf in graph.leaves]


def progress(graph: Graph, node: Exec) -> OperatorProgress:
    return graph.progress[graph.nodes.index(node)]


@pytest.mark.parametrize("roots", [[A], [B, A], [BOTH, A], [A, A], [distinct(source("b")), B], []])
def test_order_does_not_depend_on_what_was_there_before(roots: list[Exec]) -> None:
    graph = Graph(A, BOTH)
    graph.revise([B])
    graph.revise(roots)
    assert graph.nodes == nodes_of(*roots)
    assert set(graph._parts) == set(graph.nodes)


def test_parts_that_stay_remember_and_others_are_forgotten() -> None:
    graph = Graph(A)
    graph.step(rows(graph, 1))
    graph.revise([A, BOTH])
    assert progress(graph, A).rows_out == 1
    assert progress(graph, B).rows_out == 0
    graph.step(rows(graph, 2))
    graph.revise([B])
    assert A not in graph.nodes
    assert BOTH not in graph.nodes
    assert progress(graph, B).rows_out == 1
    graph.revise([A])
    assert progress(graph, A).rows_out == 0


def test_a_part_takes_the_place_of_another() -> None:
    graph = Graph(A, BOTH)
    graph.step(rows(graph, 1))
    window = A.child
    assert isinstance(window, TimeWindowExec)
    longer = distinct(replace(window, size=9))
    graph.revise([longer, B], {longer: A, longer.child: A.child})
    assert progress(graph, longer).rows_out == 1
    assert progress(graph, longer).operator == longer.label
    assert A not in graph.nodes
    graph.revise([B])
    assert set(graph._parts) == set(nodes_of(B))


@dataclass(frozen=True)
class Impossible(DistinctExec):
    def operator(self) -> Operator:
        raise ValueError("no")


def test_what_cannot_be_made_leaves_the_graph_as_it_was() -> None:
    graph = Graph(A)
    with pytest.raises(ValueError, match="no"):
        graph.revise([A, distinct(B), Impossible(B, ("s.x",))])
    assert graph.nodes == nodes_of(A)
    graph.revise([])
    assert graph.nodes == []
    assert not graph._parts


def test_the_same_plan_twice_is_needed_until_both_are_gone() -> None:
    graph = Graph(A, A)
    graph.revise([A])
    assert set(graph._parts) == set(nodes_of(A))
    assert len(graph.step(rows(graph, 1))) == 1
