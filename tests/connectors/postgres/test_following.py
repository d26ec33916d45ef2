"""Ticks over a table that others change: every version begins and ends once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import source_of
from tests.runtime.test_following import held, take
from tidemill.algebra import Schema
from tidemill.runtime.followed_relations import FollowedRelations
from tidemill.store import Store

TYPES = {"k": pa.int64(), "note": pa.string()}
VALUES = ["NULL", "0", "1"]
NOTES = ["NULL", "''", "'ä'"]


def statement(random: Random) -> str:
    key, note = random.choice(VALUES), random.choice(NOTES)
    one = f"ctid = (SELECT min(ctid) FROM t WHERE k IS NOT DISTINCT FROM {key})"
    return random.choice(
        [
            f"INSERT INTO t VALUES ({key}, {note}), ({key}, {note})",
            f"UPDATE t SET note = {note} WHERE k IS NOT DISTINCT FROM {key}",
            f"UPDATE t SET k = {key} WHERE note IS NULL",
            f"DELETE FROM t WHERE {one}",
            "TRUNCATE t" if random.random() < 0.2 else f"DELETE FROM t WHERE {one}",
        ]
    )


@pytest.mark.parametrize("seed", range(2))
def test_ticks(database: Database, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    database.run(
        "CREATE TABLE t (k bigint, note text)", "INSERT INTO t VALUES (0, NULL), (0, NULL)"
    )

    def follow() -> FollowedRelations:
        return FollowedRelations(
            Store(str(tmp_path)), "r", Schema.of(**TYPES), source_of(database, types=TYPES)
        )

    ticks: dict[int, pl.DataFrame] = {}
    relation = follow()
    for tick in range(12):
        database.run(*(statement(random) for _ in range(random.randrange(4))), "SELECT")
        ticks[tick] = take(relation, tick, 2 * tick)
        if random.random() < 0.3:
            relation = follow()
            assert take(relation, tick, 2 * tick).equals(ticks[tick])
        rows: Counter[Any] = Counter(database.run("SELECT k, note FROM t"))
        assert held(ticks) == rows
    assert relation.missing == 0
