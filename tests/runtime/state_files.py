"""Files of state as this version writes them; run it to write them anew when a version is raised.

python -m tests.runtime.state_files
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import tidemill as tm
from tidemill.physical.operator import empty_batch
from tidemill.runtime import codec
from tidemill.runtime.operators import Graph
from tidemill.store import Store
from tidemill.timeline import OPEN_END

FOLDER = Path(__file__).parent.parent / "golden" / "state"

COLUMNS = pa.schema(
    {"item": pa.string(), "price": pa.int64(), "ratio": pa.float64(), "minute": pa.int64()}
)

ROWS = [
    {"item": item, "price": price, "ratio": price / 4, "minute": minute}
    for item, price, minute in [
        ("lamp", 30, 1),
        ("vase", 12, 2),
        ("lamp", 35, 3),
        (None, 7, 3),
        ("vase", 12, 4),
        ("lamp", 1, 9),
    ]
]

QUERIES = {
    "counts": "SELECT item, COUNT(*) AS n, MAX(price) AS high, MIN(item) AS low, AVG(ratio) AS r, "
    "SUM(CAST(price AS DECIMAL(9, 2))) AS d, WIDEST(price) AS w FROM bid WINDOW(RANGE 9) "
    "GROUP BY item",
    "pairs": "SELECT a.price, b.price AS other FROM bid WINDOW(RANGE 9) a "
    "JOIN bid WINDOW(RANGE 4) b ON a.item = b.item AND TWICE(a.price) > b.price",
    "items": "SELECT DISTINCT item FROM bid WINDOW(RANGE 9)",
    "last": "SELECT item, price FROM bid WINDOW(PARTITION BY item ROWS 2)",
    "first": "SELECT item, price FROM bid WINDOW(RANGE 9) ORDER BY price DESC, item LIMIT 2",
    "came": "ISTREAM(SELECT item FROM bid WINDOW(RANGE 9))",
    "without": "SELECT item FROM bid WINDOW(RANGE 9) EXCEPT ALL "
    "SELECT item FROM bid WINDOW(RANGE 2)",
}


def engine_of() -> tm.Engine:
    """An engine that knows the stream and the functions of the queries."""
    engine = tm.Engine(runtime="inprocess", partitions=1)
    engine.stream("bid", COLUMNS, time="minute", slack=2)
    engine.function("twice", lambda x: None if x is None else 2 * x, "BIGINT", version="1")
    engine.aggregate(
        "widest",
        init=lambda x: (x, x),
        merge=lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
        eval=lambda a: a[1] - a[0],
        returns="BIGINT",
        version="1",
    )
    return engine


def known_to(engine: tm.Engine) -> codec.KnownFunctions:
    return codec.KnownFunctions(engine.catalog.functions, engine.catalog.aggregates)


def graphs_of(epoch: Any) -> Iterator[tuple[str, Graph]]:
    """The fresh operators of every stage, with the names of their files."""
    for stage in epoch.staging.staged.stages:
        yield f"stage{stage.level}.state", Graph(*(root for _, root in stage.outputs))


def answers_of(graph: Graph) -> list[list[str]]:
    """What operators give when time comes to its end, as texts."""
    arrivals = [(empty_batch(leaf.schema), OPEN_END) for leaf in graph.leaves]
    return [sorted(map(repr, rows.rows())) for rows, _ in graph.step(arrivals)]


def main() -> None:
    engine, place = engine_of(), tempfile.mkdtemp()
    graph = engine.run(checkpoint=place, every=None)
    for name, sql in QUERIES.items():
        engine.sql(sql).start("memory", name=name)
    engine.push("bid", ROWS)
    graph.tick()
    engine.close()
    FOLDER.mkdir(parents=True, exist_ok=True)
    store, known = Store(place), known_to(engine)
    epoch = codec.read(store, f"epochs/{store.names('epochs')[-1]}", known)
    (FOLDER / "epoch").write_bytes(b"".join(codec.dump(epoch)))
    answers = {}
    for name, operators in graphs_of(epoch):
        folder = f"state/stage={name[5]}/partition=0"
        file = f"{folder}/{store.names(folder)[-1]}"
        operators.state = codec.read(store, file, into=operators.state)
        (FOLDER / name).write_bytes(b"".join(codec.dump(operators.state)))
        answers[name] = answers_of(operators)
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
