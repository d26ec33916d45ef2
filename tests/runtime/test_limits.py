"""A query that takes too long, or gives too much, in one tick fails alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.fabrics.ground import Ground, everywhere, in_process, seeds
from tidemill import Engine
from tidemill.deadline import TickLimits, interrupting, look, until, within
from tidemill.errors import TimeLimitError
from tidemill.physical.operators.over_rows import versions
from tidemill.runtime.budget import Budget

COLUMNS = pa.schema({"n": pa.int64(), "at": pa.int64()})
COUNT = "SELECT COUNT(*) AS n FROM s WINDOW(RANGE 9)"
PAIRS = "s AS a WINDOW(RANGE 9), s AS b WINDOW(RANGE 9)"
SLOW = {
    "expression": "SELECT md5(repeat(CAST(n AS STRING), 4000000)) AS x FROM s",
    "condition of a join": f"""SELECT COUNT(*) AS n FROM {PAIRS}
        WHERE md5(repeat(CAST(a.n + b.n AS STRING), 30000)) > 'f'""",
    "many joins": f"""SELECT COUNT(*) AS n FROM {PAIRS}, s AS c WINDOW(RANGE 9)
        WHERE a.n + b.n + c.n < 0""",
}


@dataclass(frozen=True)
class Outcome:
    """Why a query has failed, if so, and its answer."""

    error: str
    rows: list[dict[str, Any]]

    @staticmethod
    def of(query: Any) -> Outcome:
        found = query.exception()
        order = [(name, "ascending") for name in query.results().column_names]
        rows = query.results().sort_by(order).to_pylist()
        return Outcome("" if found is None else str(found), rows)


def running(fabric: Ground, limits: TickLimits, *queries: str) -> list[Outcome]:
    """What has become of queries, started with a limit, after a tick of 1,500 rows."""
    with fabric.engine(1, limits=limits) as engine:
        engine.stream("s", COLUMNS, time="at")
        graph = engine.run(every=None)
        planned = [engine.sql(sql) for sql in queries]
        found = [query.start("memory", name=f"q{n}") for n, query in enumerate(planned)]
        engine.push("s", [{"n": n, "at": n % 7} for n in range(1500)])
        graph.heartbeat("s", 100)
        graph.tick()
        return list(map(Outcome.of, found))


@seeds(SLOW, spark=["condition of a join"], long=SLOW)
def test_a_query_that_takes_too_long_fails_alone(fabric: Ground, seed: str) -> None:
    began = time.monotonic()
    slow, count = running(fabric, TickLimits(seconds=0.5), SLOW[seed], COUNT)
    assert time.monotonic() - began < 60
    assert "takes more than 0.5 s of one tick (in " in slow.error
    assert "--max-tick-seconds" in slow.error
    assert not slow.rows
    assert not count.error
    assert [count] == running(fabric, TickLimits(), COUNT)
    assert count.rows


WIDE = {
    "OverRowsExec": "SELECT n, ROW_NUMBER() OVER (ORDER BY n DESC) AS r FROM s WINDOW(RANGE 9)",
    "UnnestExec": f"SELECT n, x FROM s CROSS JOIN UNNEST(ARRAY({', '.join('1' * 99)})) AS u(x)",
}


@pytest.mark.parametrize("operator", WIDE)
def test_what_makes_many_rows_of_few_is_stopped_before(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    repeat = np.repeat

    def watched(values: Any, times: Any, **given: Any) -> Any:
        found = repeat(values, times, **given)
        made.append(len(found))
        return found

    monkeypatch.setattr(versions, "_MOST", 1000)
    monkeypatch.setattr("numpy.repeat", watched)
    limit = TickLimits(rows=2000)
    with Engine(runtime="inprocess", limits=limit) as engine:
        engine.stream("s", COLUMNS, time="at")
        graph = engine.run(every=None)
        wide, count = (
            engine.sql(sql).start("memory", name=f"q{n}")
            for n, sql in enumerate((WIDE[operator], COUNT))
        )
        engine.push("s", [{"n": n, "at": n} for n in range(1500)])
        graph.heartbeat("s", 2000)
        graph.tick()
        outcomes = Outcome.of(wide), Outcome.of(count)
    assert f"a step gives more than 2,000 rows (in {operator}" in outcomes[0].error
    assert outcomes[1].rows
    assert sum(made) < 20_000


@everywhere
def test_a_join_that_gives_too_much_fails_alone(fabric: Ground) -> None:
    everything = f"SELECT a.n, b.n AS m FROM {PAIRS}"
    every, count = running(fabric, TickLimits(rows=100_000), everything, COUNT)
    assert "a step gives more than 100,000 rows (in JoinExec" in every.error
    assert "join on equal columns" in every.error
    assert count.rows
    assert not count.error


@in_process
def test_limits_leave_answers_as_they_are(fabric: Ground) -> None:
    sql = f"SELECT a.n, COUNT(*) AS c FROM {PAIRS} WHERE a.n = b.n GROUP BY a.n"
    (limited,) = running(fabric, TickLimits(60.0, 100_000), sql)
    assert limited.rows
    assert [limited] == running(fabric, TickLimits(), sql)


def test_what_a_part_reads_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    # 3 reads 1 and 2, which both read 0; 4 reads nothing.
    budget = Budget(TickLimits(seconds=10), [[], [0], [0], [1, 2], []].__getitem__)
    for number, seconds in enumerate([4.0, 2.0, 3.0]):
        with budget.part(number, "part"):
            now[0] += seconds
            look()
    with budget.part(4, "another"):
        now[0] += 9
        look()
    with budget.part(3, "top"):
        now[0] += 0.9
        look()
        now[0] += 0.2
        with pytest.raises(TimeLimitError, match="more than 10 s of one tick"):
            look()


def test_the_sooner_of_two_ends_counts() -> None:
    now = time.monotonic()
    with (
        within(-1, "all", ""),
        until(now + 60, "a part", ""),
        pytest.raises(TimeLimitError, match="all takes"),
    ):
        look()
    with (
        within(60, "all", ""),
        until(now - 1, "a part", ""),
        pytest.raises(TimeLimitError, match="a part"),
    ):
        look()


def test_what_does_not_end_is_interrupted_once() -> None:
    calls: list[float] = []

    def wait() -> None:
        with interrupting(lambda: calls.append(time.monotonic())):
            while not calls:
                time.sleep(0.01)

    with within(0.2, "it", ""), pytest.raises(TimeLimitError):
        wait()
    time.sleep(0.3)
    after = len(calls)
    with within(60, "it", ""), interrupting(lambda: calls.append(0)):
        time.sleep(0.25)
    assert len(calls) == after
