"""The mix of queries of PIPES, Table 24.1: joins and aggregations over many streams.

The text says which kinds of plans there are, how often, and between which limits rates, windows,
granularities and selectivities lie. It does not say how they are spread there. Here, rates and
sizes are spread evenly on a logarithmic scale, and queries repeat themselves as those of real
users do: a stream is joined with a few others only, always on the same condition, and has a few
windows only. `partners` and `windows` set how much queries have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, log
from random import Random

import numpy as np
import pyarrow as pa

from tidemill.engine import Engine

MINUTE = 60_000
"""Time is counted in milliseconds."""

SHARES = {
    "two": 30,
    "three": 20,
    "chain": 10,
    "pairs": 10,
    "aggregate": 10,
    "aggregate and stream": 10,
    "two aggregates": 10,
}
"""Kinds of plans, in percent: joins of two, three and four streams (one after the other, or two
pairs), an aggregation, an aggregation joined with a stream, and two aggregations joined."""

THETA_SHARE = 0.33
"""Of the joins, how many compare all rows; others are on equal keys."""

KEYS = (50, 100, 200)
"""Every stream has a key of each of these many values: selectivities from 0.02 to 0.005."""

VALUES = 10_000
"""The values of a column that conditions without equality compare."""

GRANULES = ((1, 10), (1, 100), (10, 1000), (100, 1000), (10, 10_000), (1000, 10_000))
"""Finest and coarsest granules, in milliseconds."""

ROW = pa.schema({**{f"k{keys}": pa.int64() for keys in KEYS}, "v": pa.int64(), "at": pa.int64()})
"""A row of any stream."""

_CALLS = ("COUNT(*)", "AVG(v)", "SUM(v)", "MIN(v)", "MAX(v)")


@dataclass(frozen=True)
class Setting:
    """The smallest and largest window over a stream, and the finest and coarsest granule."""

    window: tuple[int, int]
    granule: tuple[int, int]


@dataclass(frozen=True)
class Mix:
    """Queries and streams of one seed.

    `rates` are rows per minute, `minutes` the sizes that windows have. With `bounds`, queries say
    how far their windows and granularities may be changed; without, they have one size.

    The text's plans are trees of joins of two: leave the rule `order_joins` out to get them.

    >>> for query in Mix(streams=4, seed=1).queries(2):
    ...     print(query)
    SELECT s03.v AS v1, s01.v AS v2, s00.v AS v3, s02.v AS v4
    FROM (s03 WINDOW(RANGE MIN 224000, MAX 533000)
      JOIN s01 WINDOW(RANGE MIN 251000, MAX 854000) ON s01.k100 = s03.k100)
    JOIN (s00 WINDOW(RANGE MIN 63000, MAX 141000)
      JOIN s02 WINDOW(RANGE MIN 216000, MAX 319000) ON s00.k100 = s02.k100)
    ON ABS(s00.v - s01.v) < 100
    SELECT s00.v AS v1, s02.v AS v2
    FROM s00 WINDOW(RANGE MIN 63000, MAX 141000)
    JOIN s02 WINDOW(RANGE MIN 116000, MAX 671000) ON s00.k100 = s02.k100
    """

    streams: int = 50
    rates: tuple[float, float] = (2, 600)
    minutes: tuple[float, float] = (1, 30)
    windows: int = 2
    partners: int = 3
    bounds: bool = True
    seed: int = 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The streams."""
        return tuple(f"s{number:02}" for number in range(self.streams))

    @cached_property
    def rate(self) -> dict[str, float]:
        """Rows per millisecond of every stream."""
        random = Random(f"rates {self.seed}")
        return {name: _between(random, *self.rates) / MINUTE for name in self.names}

    @cached_property
    def settings(self) -> dict[str, tuple[Setting, ...]]:
        """The windows over every stream."""
        random = Random(f"windows {self.seed}")
        return {
            name: tuple(self._setting(random) for _ in range(self.windows)) for name in self.names
        }

    def queries(self, count: int, first: int = 0) -> list[str]:
        """So many queries; each depends on its number only."""
        return [_Writer(self, number).query() for number in range(first, first + count)]

    def partner(self, name: str, random: Random, taken: frozenset[str]) -> str:
        """A stream that this one is joined with, and that is not taken yet."""
        at = self.names.index(name)
        near = [self.names[(at + step) % self.streams] for step in range(1, self.streams)]
        free = [other for other in near if other not in taken]
        return random.choice(free[: self.partners])

    def tables(self, begin: int, end: int, faster: float = 1.0) -> dict[str, pa.Table]:
        """The rows of every stream that come from `begin` to before `end`: a Poisson process.

        They depend on the seed and on `begin` and `end` only. `faster` multiplies all rates.

        >>> rows = Mix(streams=2).tables(0, MINUTE)["s00"]
        >>> rows.column_names
        ['k50', 'k100', 'k200', 'v', 'at']
        """
        spans = ((name, rate * faster * (end - begin)) for name, rate in self.rate.items())
        return {
            name: _rows(np.random.default_rng((self.seed, number, begin, end)), mean, begin, end)
            for number, (name, mean) in enumerate(spans)
        }

    def declare(self, engine: Engine, hints: bool = True) -> None:
        """Make streams for rows that are pushed; with `hints`, tell what is true of them."""
        for name, rate in self.rate.items():
            engine.stream(name, ROW, time="at")
            if hints:
                engine.hint(name, rate=rate, distinct={f"k{keys}": keys for keys in KEYS})
        if hints:
            engine.hint(selectivity=dict(self._conditions()))

    def _conditions(self) -> Iterator[tuple[str, float]]:
        """All conditions that streams are joined on; a query has four streams at most."""
        for at, name in enumerate(self.names):
            for step in range(1, min(self.partners + 3, self.streams)):
                yield self.condition(name, self.names[(at + step) % self.streams])

    def condition(self, left: str, right: str) -> tuple[str, float]:
        """On what two streams are joined, and the share of pairs that match."""
        left, right = sorted((left, right))
        random = Random(f"{left} {right} {self.seed}")
        keys = random.choice(KEYS)
        if random.random() < THETA_SHARE:
            near = VALUES // (2 * keys)
            return f"ABS({left}.v - {right}.v) < {near}", (2 * near - 1) / VALUES
        return f"{left}.k{keys} = {right}.k{keys}", 1 / keys

    def _setting(self, random: Random) -> Setting:
        low, high = sorted(_seconds(_between(random, *self.minutes)) for _ in range(2))
        return Setting((low, high), random.choice(GRANULES))


@dataclass(frozen=True)
class _Writer:
    """One query, by its number."""

    mix: Mix
    number: int

    @cached_property
    def random(self) -> Random:
        return Random(f"query {self.number} {self.mix.seed}")

    def query(self) -> str:
        kind = self.random.choices(list(SHARES), list(SHARES.values()))[0]
        match kind:
            case "two" | "three" | "chain":
                return self._chain(self._names({"two": 2, "three": 3, "chain": 4}[kind]))
            case "pairs":
                return self._pairs(*self._names(4))
            case "aggregate":
                return self._aggregate(self.random.choice(self.mix.names))
            case "aggregate and stream":
                return self._aggregate_and_stream(*self._names(2))
        return self._two_aggregates(*self._names(2))

    def _names(self, count: int) -> tuple[str, ...]:
        """Different streams, each joined with the one before."""
        names = [self.random.choice(self.mix.names)]
        while len(names) < count:
            names.append(self.mix.partner(names[-1], self.random, frozenset(names)))
        return tuple(names)

    def _chain(self, names: tuple[str, ...]) -> str:
        joins = (
            f"\nJOIN {self._windowed(right)} ON {self._on(left, right)}"
            for left, right in pairwise(names)
        )
        return f"{_select(names)}\nFROM {self._windowed(names[0])}{''.join(joins)}"

    def _pairs(self, a: str, b: str, c: str, d: str) -> str:
        left, right = (
            f"({self._windowed(one)}\n  JOIN {self._windowed(two)} ON {self._on(one, two)})"
            for one, two in ((a, b), (c, d))
        )
        return f"{_select((a, b, c, d))}\nFROM {left}\nJOIN {right}\nON {self._on(b, c)}"

    def _aggregate(self, name: str) -> str:
        return f"SELECT {self.random.choice(_CALLS)} AS x\nFROM {self._coarsened(name)}"

    def _aggregate_and_stream(self, one: str, two: str) -> str:
        condition = self._on(one, two)
        return (
            f"SELECT a.x, {two}.v\nFROM {self._total(one, condition)} AS a\n"
            f"JOIN {self._windowed(two)} ON {_renamed(condition, {one: 'a'})}"
        )

    def _two_aggregates(self, one: str, two: str) -> str:
        condition = self._on(one, two)
        return (
            f"SELECT a.x AS x1, b.x AS x2\nFROM {self._total(one, condition)} AS a\n"
            f"JOIN {self._total(two, condition)} AS b\n"
            f"ON {_renamed(condition, {one: 'a', two: 'b'})}"
        )

    def _total(self, name: str, condition: str) -> str:
        """An aggregation with a column that has as many values as the one of the condition."""
        values = _KEY.search(condition)
        column, domain = (values[0], int(values[1])) if values else ("v", VALUES)
        call = self.random.choice(_CALLS)
        return f"(SELECT {call} AS x, SUM(v) % {domain} AS {column} FROM {self._coarsened(name)})"

    def _windowed(self, name: str) -> str:
        return f"{name} {self._window(self._setting(name))}"

    def _coarsened(self, name: str) -> str:
        setting = self._setting(name)
        finest, coarsest = setting.granule
        text = f"COARSEST {coarsest}, FINEST {finest}" if self.mix.bounds else f"{finest}"
        return f"{name} {self._window(setting)} GRANULARITY({text})"

    def _setting(self, name: str) -> Setting:
        return self.random.choice(self.mix.settings[name])

    def _window(self, setting: Setting) -> str:
        low, high = setting.window
        return f"WINDOW(RANGE MIN {low}, MAX {high})" if self.mix.bounds else f"WINDOW(RANGE {low})"

    def _on(self, left: str, right: str) -> str:
        return self.mix.condition(left, right)[0]


_KEY = re.compile(r"k(\d+)")


def _select(names: tuple[str, ...]) -> str:
    return "SELECT " + ", ".join(f"{name}.v AS v{at}" for at, name in enumerate(names, 1))


def _renamed(condition: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        condition = condition.replace(f"{old}.", f"{new}.")
    return condition


def _between(random: Random, low: float, high: float) -> float:
    """A number whose logarithm is spread evenly."""
    return exp(random.uniform(log(low), log(high)))


def _seconds(minutes: float) -> int:
    """Rounded to whole seconds, as people write windows."""
    return round(minutes * MINUTE / 1000) * 1000


def _rows(random: np.random.Generator, mean: float, begin: int, end: int) -> pa.Table:
    count = int(random.poisson(mean))
    columns = [random.integers(0, top, count) for top in (*KEYS, VALUES)]
    return pa.table([*columns, np.sort(random.integers(begin, end, count))], schema=ROW)
