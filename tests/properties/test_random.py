"""Random cases against the reference: plans, SQL, splits into ticks, and relations.

The seeds are fixed, so that a run means the same everywhere; `make fuzz` takes fresh ones.
"""

from __future__ import annotations

import pytest

from tests.random.cases import check_seed
from tests.random.combinations import FABRICS, Block

pytestmark = pytest.mark.fuzz

COUNTS = {
    "plans": 240,
    "queries": 140,
    "constructs": 100,
    "hints": 60,
    "splits": 80,
    "relations": 80,
    "rankings": 20,
    "graphs": 60,
    "shapes": 40,
    "changes": 40,
    "adapting": 40,
}
CHUNKS = {
    "plans": 20,
    "queries": 10,
    "constructs": 20,
    "hints": 10,
    "splits": 10,
    "relations": 20,
    "rankings": 10,
    "graphs": 20,
    "shapes": 20,
    "changes": 20,
    "adapting": 20,
}

CHUNKED = [
    (kind, start) for kind, count in COUNTS.items() for start in range(0, count, CHUNKS[kind])
]


@pytest.mark.parametrize(
    ("kind", "start"), CHUNKED, ids=[f"{kind}-{start}" for kind, start in CHUNKED]
)
def test_random_cases(kind: str, start: int) -> None:
    for seed in range(start, start + CHUNKS[kind]):
        check_seed(kind, seed)


def test_queries_together_in_all_ways() -> None:
    """Some splits, orders, partitions and fabrics; `make fuzz ARGS="--cases N"` counts many."""
    block = Block(0).check()
    assert not block.failures, block.failures[0]
    assert set(block.cases) == set(FABRICS)
