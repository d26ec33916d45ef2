"""What ticks see of relations that change, over stops at any point."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.runtime.change_sources import SCHEMA, Script, changes_of
from tidemill.algebra import Schema
from tidemill.algebra.nodes import VERSION
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.errors import DamageError, ExecutionError
from tidemill.runtime import change_log
from tidemill.runtime.followed_relations import FollowedRelations
from tidemill.runtime.relations import LocalRelation
from tidemill.store import Store
from tidemill.timeline import OPEN_END


def follow(folder: Path, source: Any, schema: Schema = SCHEMA) -> FollowedRelations:
    return FollowedRelations(Store(str(folder)), "r", schema, source)


def take(following: FollowedRelations, tick: int, earliest: int) -> pl.DataFrame:
    """What a tick sees, after a stop or not."""
    following.go_on(tick)
    return following.take(tick, earliest)


def held(ticks: dict[int, pl.DataFrame]) -> Counter[Any]:
    """The rows that ticks have left there, each as often as it is there."""
    rows = pl.concat(list(ticks.values()))
    ids = rows.filter(pl.col(INSERTED) < pl.col(DELETED))[VERSION]
    assert ids.n_unique() == len(ids), "no version begins twice"
    ended = rows.filter(pl.col(INSERTED) == pl.col(DELETED))[VERSION]
    assert ended.n_unique() == len(ended), "no version ends twice"
    is_open = (pl.col(DELETED) == OPEN_END) & ~pl.col(VERSION).is_in(ended.implode())
    return Counter(rows.filter(is_open).select(SCHEMA.names).rows())


@pytest.mark.parametrize("seed", range(12))
def test_every_change_is_seen_once_over_stops_at_any_point(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_log, "_FEWEST_ROWS", 10)
    random = Random(seed)
    source = Script(random, rows=20)
    ticks: dict[int, pl.DataFrame] = {}
    relation, tick = follow(tmp_path, source), 0
    while source.more:
        source.happen(random.randrange(4))
        source.fails = random.random() < 0.1
        if random.random() < 0.3:
            relation.look()
        try:
            rows = take(relation, tick, 2 * tick)
        except ExecutionError:
            relation = follow(tmp_path, source)
            continue
        before = ticks.get(tick, rows)
        assert not before.height or before.equals(rows), "a tick done again sees the same"
        ticks[tick] = rows
        assert set(rows[INSERTED]) <= {2 * tick}
        crashes, is_done = random.random() < 0.2, random.random() < 0.5
        if crashes:
            relation = follow(tmp_path, source)
        tick += is_done or not crashes
    source.fails = False
    for last in (tick, tick + 1):
        ticks[last] = take(relation, last, 2 * last)
    assert held(ticks) == source.now
    assert len(list(tmp_path.glob("changes/r/*"))) < 70


@pytest.mark.parametrize("seed", range(8))
def test_relations_of_the_engine_may_begin_anew(seed: int, tmp_path: Path) -> None:
    """After a stop the rows are what they are, whoever put them there, and queries get to them."""
    random = Random(seed)
    tables = [changes_of(random, 8, sign=1) for _ in range(4)]
    rows_of = {n: table.select(SCHEMA.names) for n, table in enumerate(tables)}
    ticks: dict[int, pl.DataFrame] = {}
    tick = 0
    for table in rows_of.values():
        relation = LocalRelation(SCHEMA, lambda table=table: table)
        following = follow(tmp_path, relation.follow())
        for _ in range(3):
            relation.insert(rows_of[random.randrange(4)].slice(0, random.randrange(4)))
            relation.delete(
                lambda rows: (rows["k"] == random.randrange(3)).fill_null(False).to_numpy()
            )
            ticks[tick] = take(following, tick, tick)
            tick += 1
        now = relation.rows.filter(pl.col(DELETED) == OPEN_END).select(SCHEMA.names)
        assert held(ticks) == Counter(now.rows())
        assert following.missing == 0
        again = follow(tmp_path, relation.follow())
        assert take(again, tick - 1, tick).equals(ticks[tick - 1])


def test_instants_of_changes(tmp_path: Path) -> None:
    relation = LocalRelation(only_k := SCHEMA.select(["k"]), lambda: pa.table({"k": [1, 2]}))
    relation.insert(pa.table({"k": [3]}), at=50)
    following = follow(tmp_path, relation.follow(), only_k)
    assert take(following, 0, 0).rows() == [
        (1, 0, 0, OPEN_END),
        (2, 1, 0, OPEN_END),
        (3, 2, 50, OPEN_END),
    ]
    relation.insert(pa.table({"k": [4]}), at=30)
    relation.insert(pa.table({"k": [5]}))
    relation.insert(pa.table({"k": [6]}), at=7)
    relation.delete(lambda rows: (rows["k"] <= 1).to_numpy(), at=40)
    relation.delete(lambda rows: (rows["k"] == 3).to_numpy())
    assert take(following, 1, 11).rows() == [
        (4, 3, 30, OPEN_END),
        (5, 4, 11, OPEN_END),
        (6, 5, 11, OPEN_END),
        (1, 0, 40, 40),
        (3, 2, 50, 50),
    ]
    relation.delete(lambda rows: (rows["k"] == 2).to_numpy(), at=60)
    relation.insert(pa.table({"k": [7]}), at=70)
    later = follow(tmp_path, relation.follow(), only_k)
    assert take(later, 2, 20).rows() == [(7, 6, 70, OPEN_END), (2, 1, 60, 60)]
    assert (later.changes, later.missing, later.held) == (2, 0, 4)


def test_a_checkpoint_without_its_files(tmp_path: Path) -> None:
    source = Script(Random(1), rows=3)
    take(follow(tmp_path, source), 3, 0)
    with pytest.raises(ExecutionError, match="what tick 3 saw of `r` is in the checkpoint, but"):
        take(follow(tmp_path, source), 2, 0)
    for name in ("000000000000.rows", "000000000000.rows.last"):
        whole = (tmp_path / "changes" / "r" / name).read_bytes()
        (tmp_path / "changes" / "r" / name).unlink()
        with pytest.raises(DamageError, match=f"{name} is damaged: it is missing"):
            follow(tmp_path, source)
        (tmp_path / "changes" / "r" / name).write_bytes(whole)


def test_nothing_new_is_nothing_written(tmp_path: Path) -> None:
    relation = LocalRelation(SCHEMA, lambda: SCHEMA.to_arrow().empty_table())
    following = follow(tmp_path, relation.follow())
    for tick in range(3):
        take(following, tick, 0)
    assert [path.name for path in sorted(tmp_path.glob("changes/r/*.rows"))] == [
        "000000000000.rows"
    ]
