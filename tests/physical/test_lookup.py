"""Lookups against their definition: every row with every version that covers its start."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from sqlglot import parse_one

from tidemill.algebra import Scalar, Scan, Schema, SourceKind
from tidemill.physical.operator import empty_batch
from tidemill.physical.operators.lookup import LookupExec, LookupKind
from tidemill.physical.operators.source import SourceExec
from tidemill.timeline import OPEN_END

LEFT = SourceExec(Scan("s", "s", Schema.of(k=pa.int64(), x=pa.float64())))
INSTANTS = 12


def relation_of(kind: SourceKind) -> SourceExec:
    columns = {"k": pa.int64(), "x": pa.float64()}
    version = {"#id": pa.int64()} if kind is SourceKind.CHANGING else {}
    return SourceExec(Scan("r", "r", Schema.of(**columns, **version), kind))


def lookup(kind: LookupKind, source: SourceKind, keys: str, where: str | None) -> LookupExec:
    """A lookup by some of the columns `k` and `x`."""
    names = tuple(f"s.{key}" for key in keys), tuple(f"r.{key}" for key in keys)
    conditions = () if where is None else (Scalar(parse_one(where, read="spark"), pa.bool_()),)
    version = "r.#id" if source is SourceKind.CHANGING else None
    return LookupExec(LEFT, relation_of(source), kind, source, names, conditions, version=version)


NODES = [
    lookup(kind, source, keys, where)
    for kind in LookupKind
    for source in (SourceKind.CONSTANT, SourceKind.INTERVALS, SourceKind.CHANGING)
    for keys, where in [("k", None), ("kx", None), ("x", "`s.k` < `r.k`"), ("", "`s.k` <> `r.k`")]
]
NODES += [replace(node, null_safe=(True,)) for node in NODES if node.keys[0] == ("s.k",)]


@dataclass(frozen=True)
class Row:
    k: int | None
    x: float | None
    start: int
    end: int
    id: int = 0


def random_row(random: Random, start: int, end: int, number: int = 0) -> Row:
    k = random.choice([None, 0, 1, 2, 3, 0x5BD1E995])
    return Row(k, random.choice([None, 0.0, -0.0, 1.5, float("nan")]), start, end, number)


def random_relation(random: Random, kind: SourceKind) -> list[Row]:
    if kind is SourceKind.CONSTANT:
        return [random_row(random, 0, OPEN_END) for _ in range(random.randint(0, 9))]
    rows = []
    for number in range(random.randint(0, 15)):
        start = random.randint(0, INSTANTS)
        end = random.choice([start + random.randint(1, 6), OPEN_END])
        rows.append(random_row(random, start, end, number))
    return rows


def equal(one: float | None, other: float | None, safe: bool) -> bool:
    if one is None or other is None:
        return safe and one is other
    return one == other or (one != one and other != other)


def matches(node: LookupExec, left: Row, right: Row) -> bool:
    """The definition."""
    names = [name.removeprefix("s.") for name in node.keys[0]]
    if not right.start <= left.start < right.end:
        return False
    pairs = zip(names, node.safe_keys, strict=True)
    if not all(equal(getattr(left, n), getattr(right, n), safe) for n, safe in pairs):
        return False
    if not node.conditions:
        return True
    if left.k is None or right.k is None:
        return False
    return left.k < right.k if "<>" not in str(node.conditions[0]) else left.k != right.k


def expected(node: LookupExec, stream: list[Row], relation: list[Row]) -> list[tuple[Any, ...]]:
    found = []
    for row in stream:
        mine = (row.k, row.x)
        partners = [other for other in relation if matches(node, row, other)]
        if node.kind is LookupKind.INNER:
            width = len(node.relation.schema.names)
            theirs = [(other.k, other.x, other.id)[:width] for other in partners]
        else:
            theirs = [()] if bool(partners) == (node.kind is LookupKind.SEMI) else []
        found += [(*mine, *other, row.start, row.end) for other in theirs]
    return found


def batch_of(plan: Any, rows: list[Row]) -> pl.DataFrame:
    empty = empty_batch(plan.schema)
    width = empty.width - 2
    data = [(*(row.k, row.x, row.id)[:width], row.start, row.end) for row in rows]
    return pl.DataFrame(data, schema=empty.schema, orient="row") if data else empty


def arrivals(random: Random, relation: list[Row], until: int) -> dict[int, list[Row]]:
    """Rows of the relation by the tick they come in; ticks are instants.

    A change comes in a tick none of whose predecessors had rows as late as it takes effect; ends
    come with the row or later.
    """
    ticks: dict[int, list[Row]] = {tick: [] for tick in range(until)}
    for row in relation:
        first = random.randint(0, row.start)
        last = random.randint(0, row.end) if row.end < OPEN_END else 0
        if row.end == OPEN_END or last <= first:
            ticks[min(first, until - 1)].append(row)
        else:
            ticks[min(first, until - 1)].append(replace(row, end=OPEN_END))
            if last < until:
                ticks[last].append(replace(row, start=row.end))
    return ticks


def run(node: LookupExec, ticks: list[tuple[list[Row], list[Row], int]]) -> list[Any]:
    """The results of all ticks."""
    operator = node.operator()
    found: list[Any] = []
    for stream, relation, watermark in ticks:
        batches = [batch_of(node.left, stream), batch_of(node.relation, relation)]
        mark = OPEN_END if node.source is not SourceKind.CHANGING else 0
        result, reached = operator.step(batches, [watermark, mark])
        assert reached == watermark
        assert result.schema == empty_batch(node.schema).schema
        found += result.rows()
        assert operator.state_rows <= operator.state_bytes
    return found


def in_order(rows: list[Any]) -> list[str]:
    return sorted(str(tuple(0.0 if v == 0 else v for v in row)) for row in rows)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.label)
def test_lookup(node: LookupExec) -> None:
    random = Random(str(node.label))
    for _ in range(2 if node.conditions else 6):  # conditions take their time
        relation = random_relation(random, node.source)
        stream = [
            random_row(random, t, t + 1)
            for t in range(INSTANTS)
            for _ in range(random.choice([0, 1, 3]))
        ]
        if node.source is SourceKind.CHANGING:
            changes = arrivals(random, relation, INSTANTS)
        else:
            changes = {0: relation}
        ticks = [
            ([row for row in stream if row.start == t], changes.get(t, []), t + 1)
            for t in range(INSTANTS)
        ]
        assert in_order(run(node, ticks)) == in_order(expected(node, stream, relation))


def steps(
    node: LookupExec, *ticks: tuple[list[Row], list[Row], int, int]
) -> list[tuple[list[Any], int]]:
    """What comes out after every tick: rows, and the watermark. The state is stored between."""
    operator = node.operator()
    results = []
    for stream, relation, *watermarks in ticks:
        batches = [batch_of(node.left, stream), batch_of(node.relation, relation)]
        result, watermark = operator.step(batches, watermarks)
        results.append((result.rows(), watermark))
        operator = pickle.loads(pickle.dumps(operator))
    return results


SEMI = lookup(LookupKind.SEMI, SourceKind.CONSTANT, "k", None)


def test_rows_wait_for_a_relation_that_comes_in_pieces() -> None:
    one, two = Row(1, None, 0, OPEN_END), Row(2, None, 0, OPEN_END)
    early, late = Row(1, 0.5, 3, 4), Row(2, 0.5, 5, 6)
    assert steps(
        SEMI, ([early], [two], 3, 0), ([late], [one], 5, OPEN_END), ([], [], OPEN_END, OPEN_END)
    ) == [([], 0), ([(1, 0.5, 3, 4), (2, 0.5, 5, 6)], 5), ([], OPEN_END)]


def test_what_changes_holds_nothing_back() -> None:
    node = lookup(LookupKind.INNER, SourceKind.CHANGING, "k", None)
    version = Row(1, 2.5, 2, OPEN_END, 7)
    assert steps(
        node,
        ([Row(1, 0.5, 1, 2)], [version], 1, 0),
        ([Row(1, 0.5, 3, 4)], [], 3, 0),
        ([Row(1, 0.5, 4, 5), Row(1, 0.5, 5, 6)], [replace(version, start=5, end=5)], 4, 0),
        ([Row(1, 0.5, 9, 10)], [Row(1, 3.5, 9, OPEN_END, 8)], 9, 0),
    ) == [
        ([], 1),
        ([(1, 0.5, 1, 2.5, 7, 3, 4)], 3),
        ([(1, 0.5, 1, 2.5, 7, 4, 5)], 4),
        ([(1, 0.5, 1, 3.5, 8, 9, 10)], 9),
    ]


def test_ends_of_rows_that_are_not_known_are_no_rows() -> None:
    node = lookup(LookupKind.SEMI, SourceKind.CHANGING, "k", None)
    assert steps(node, ([Row(1, 0.5, 4, 5)], [Row(1, 0.5, 4, 4, 3)], 4, 0)) == [([], 4)]


def test_many_versions_of_a_key_are_forgotten() -> None:
    node = lookup(LookupKind.INNER, SourceKind.CHANGING, "k", None)
    operator = node.operator()
    most = 0
    for t in range(0, 20_000, 100):
        stream = [Row(1, 0.5, at, at + 1) for at in range(t, t + 100)]
        changes = [Row(1, 1.0, at, at + 1, at) for at in range(t, t + 100)]
        batches = [batch_of(node.left, stream), batch_of(node.relation, changes)]
        result, _ = operator.step(batches, [t + 100, 0])
        assert result["r.#id"].to_list() == list(range(t, t + 100))
        most = max(most, operator.state_rows)
    assert most <= 200


def test_pairs_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    node = lookup(LookupKind.INNER, SourceKind.CONSTANT, "", "`s.k` <> `r.k`")
    stream = [Row(k, 0.5, 0, 1) for k in range(5)]
    relation = [Row(k, 1.5, 0, OPEN_END) for k in range(3)]
    ((whole, _),) = steps(node, (stream, relation, 1, OPEN_END))
    monkeypatch.setattr("tidemill.physical.operators.lookup.relation.MOST_PAIRS", 4)
    assert steps(node, (stream, relation, 1, OPEN_END)) == [(whole, 1)]
    assert len(whole) == 12


@pytest.mark.parametrize("where", ["`s.k` > 1", "`r.k` > 1", "1 > 0", "NULL"])
def test_conditions_on_one_side_or_none(where: str) -> None:
    stream = [Row(k, 0.5, 0, 1) for k in (1, 2)]
    relation = [Row(k, 1.5, 0, OPEN_END) for k in (1, 2)]
    kinds = (LookupKind.INNER, LookupKind.SEMI, LookupKind.ANTI)
    nodes = [lookup(kind, SourceKind.CONSTANT, "", where) for kind in kinds]
    counts = [len(rows) for node in nodes for rows, _ in steps(node, (stream, relation, 1, 2))]
    assert counts == {"`s.k` > 1": [2, 1, 1], "`r.k` > 1": [2, 2, 0], "1 > 0": [4, 2, 0]}.get(
        where, [0, 0, 2]
    )
