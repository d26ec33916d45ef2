"""Whatever the optimizer chooses: every order of a join and every early plan, in one pass."""

from __future__ import annotations

from itertools import permutations, product
from random import Random

import pyarrow as pa

import tidemill as tm
from tests.fabrics.answers import Results, query_of
from tests.fabrics.ground import Ground
from tests.fabrics.test_together import snapshots

NAMES = ("a", "b", "c")
SCHEMA = pa.schema([*((name, pa.int64()) for name in ("k", "g", "v", "at")), ("x", pa.float64())])

JOIN = (
    "SELECT {hint} a.v AS x, b.v AS y, c.v AS z FROM a WINDOW(RANGE 4), b WINDOW(RANGE 3),"
    " c WINDOW(RANGE 5) WHERE a.k = b.k AND b.k = c.k AND a.v < c.v"
)
AGGREGATE = (
    "SELECT {hint} a.g, COUNT(*) AS n, SUM(a.v) AS s, AVG(b.v) AS m, MIN(c.v) AS low, MAX(a.v)"
    " AS high, SUM(b.x) AS t FROM a WINDOW(RANGE 4), b WINDOW(RANGE 3), c WINDOW(RANGE 5)"
    " WHERE a.k = b.k AND b.k = c.k GROUP BY a.g"
)
OUTER = (
    "SELECT {hint} a.g, COUNT(*) AS n, SUM(b.x) AS s, COUNT(b.v) AS m, MAX(a.v) AS high"
    " FROM a WINDOW(RANGE 4) LEFT JOIN b WINDOW(RANGE 3) ON a.k = b.k AND a.v < b.v GROUP BY a.g"
)


def tables(name: str) -> list[pa.Table]:
    random = Random(name)
    times = sorted(random.choices(range(15), k=18))
    rows = [
        {"k": random.choice([1, 2, None]), "g": random.randint(0, 1), "v": random.randint(0, 9)}
        for _ in times
    ]
    whole = [{**row, "at": at, "x": at / 7} for row, at in zip(rows, times, strict=True)]
    return [pa.Table.from_pylist(whole[n : n + 6], SCHEMA) for n in (0, 6, 12)]


def engine_of(fabric: Ground, partitions: int = 2) -> tm.Engine:
    engine = fabric.engine(partitions)
    for name in NAMES:
        engine.stream(name, tables(name), time="at")
    return engine


def choices() -> list[tuple[str, str]]:
    """Queries, each as it is written without a hint, and with one."""
    orders = [f"/*+ ORDER({', '.join(order)}) */" for order in permutations(NAMES)]
    early = [
        [name for name, wanted in zip(NAMES, mask, strict=True) if wanted]
        for mask in product([False, True], repeat=3)
    ]
    masks = [f"/*+ EARLY({', '.join(names)}) */" if names else "/*+ LATE */" for names in early]
    two = [mask for mask in masks if "c" not in mask]
    hinted = [(JOIN, orders), (AGGREGATE, masks), (OUTER, two)]
    return [(text.format(hint=""), text.format(hint=h)) for text, hints in hinted for h in hints]


def test_every_choice_gives_the_same_answer(fabric: Ground) -> None:
    engine = engine_of(fabric)
    texts = choices()
    sinks = [Results() for _ in texts]
    queries = [query_of(engine, text) for _, text in texts]
    pairs = zip(queries, sinks, strict=True)
    running = engine.start(*(query.into(sink) for query, sink in pairs), available_now=True)
    assert running.await_termination()
    alone = engine_of(Ground(), partitions=1)
    plain = {text for text, _ in texts}
    answers = {text: snapshots(query_of(alone, text).collect()) for text in plain}
    for (text, hinted), sink in zip(texts, sinks, strict=True):
        assert snapshots(sink) == answers[text], hinted
