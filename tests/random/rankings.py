"""Random rankings of objects: streams that keep their promises, and questions about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.checking.plans import Inputs
from tests.random.data import TIME, RandomStream, random_stream
from tidemill.algebra import Range, Recurrence
from tidemill.engine import Engine

STREAMS: Final = ("alpha", "beta", "gamma")
STRATEGIES: Final = ("eaa", "sla", "plain")
_VALUES: Final = (0.0, 0.1, 0.25, 0.5, 0.5, 0.7, 0.7, 1.0, None)
_SUMS: Final = (
    *("a.f + b.f", "0.5 * a.f + 0.3 * b.f + c.f", "GREATEST(a.f, b.f)", "LEAST(a.f, b.f)"),
    *("a.f * b.f", "gauge(a.f, c.f)", "a.v + 2 * b.v", "a.f", "SQRT(a.f) + b.v"),
)
_PLAIN: Final = (
    "SUM(f)",
    "SUM(v)",
    "MAX(f)",
    "COUNT(s)",
    "2 * MAX(v) + 1",
    "GREATEST(MAX(f), MAX(v))",
)


@dataclass(frozen=True)
class Ranking:
    """A query with a place for a hint, and what its streams promise."""

    sql: str
    recurs: Recurrence | None

    def hinted(self, strategy: str) -> str:
        """The query, answered in a certain way."""
        return self.sql.replace("SELECT", f"SELECT /*+ RANK({strategy}) */", 1)


def random_ranking(random: Random) -> tuple[Ranking, Inputs]:
    """A question about objects, and rows that keep the promises."""
    size = random.choice([1, 3, 6, 15])
    most, within = random.choice([1, 1, 2, 4]), random.choice([None, None, size])
    by_rows = within is None and random.random() < 0.4
    window = f"WINDOW({'ROWS' if by_rows else 'RANGE'} {size})"
    keys = random.choice([["k"], ["k"], ["s"], ["s", "k"]])
    recurs = Recurrence(most, (keys[0],), within)
    objects = random.random() < 0.6
    body = _objects(random, keys, window) if objects else _united(random, keys, window)
    limit = f"LIMIT {random.choice([1, 2, 3, 20])}{random.choice(['', '', ' OFFSET 1'])}"
    ranking = Ranking(f"{body} ORDER BY score DESC {limit}", recurs)
    streams = {name: _kept(random, recurs, objects) for name in STREAMS}
    return ranking, Inputs(streams)


def _objects(random: Random, keys: list[str], window: str) -> str:
    named = f"alpha AS a, beta AS b, gamma AS c BY {', '.join(keys)}"
    shown = ", ".join(random.sample(keys, len(keys)))
    return f"SELECT {shown}, {random.choice(_SUMS)} AS score FROM OBJECTS({named}) {window}"


def _united(random: Random, keys: list[str], window: str) -> str:
    forms = ["alpha", "(alpha UNION ALL beta)", "(beta UNION ALL alpha UNION ALL beta)"]
    rows = random.choice(forms)
    also = random.choice(["", "", ", COUNT(*) AS n"])
    columns = f"{', '.join(keys)}, {random.choice(_PLAIN)} AS score{also}"
    return f"SELECT {columns} FROM {rows} {window} GROUP BY {', '.join(keys)}"


def _kept(random: Random, recurs: Recurrence, objects: bool) -> RandomStream:
    """Rows of which not more than promised agree in the column of the promise."""
    stream = random_stream(random, rows=(0, 18))
    column, seen = recurs.per[0], Counter[Any]()
    ids: dict[str, list[Any]] = {
        "k": [0, 1, 2, 3, 5, 8, 9],
        "s": ["a", "b", "ä", "", "zz", "𝄞", "b c"],
    }
    none: list[Any] = [] if objects else [None]

    def row(old: dict[str, Any]) -> dict[str, Any] | None:
        left = [each for each in [*ids[column], *none] if seen[each] < recurs.most]
        if not left:
            return None
        new = {name: random.choice([*ids[name], *none]) for name in ("k", "s")}
        new[column] = random.choice(left)
        seen[new[column]] += 1
        return {**old, **new, "f": random.choice(_VALUES), "v": random.choice([0, 1, 1, 3, None])}

    ticks = tuple(tuple(filter(None, map(row, tick))) for tick in stream.ticks)
    return RandomStream(ticks, stream.slack, stream.ahead)


def ranking_engine(ranking: Ranking, inputs: Inputs, engine: Engine) -> Engine:
    """The engine with the streams, their promises, and a score of its own."""
    for name, stream in inputs.streams.items():
        engine.stream(
            name,
            stream.tables,
            time=TIME,
            slack=stream.slack,
            ahead=stream.ahead,
            ranges={"f": (0, 1), "v": Range(0, 3)},
            at_most=ranking.recurs,
        )
    engine.function("gauge", lambda a, b: a * a + b, "DOUBLE", monotone=True)
    return engine
