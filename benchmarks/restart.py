"""How long a server takes to come back, whatever happened before it was killed.

Each case makes a folder, kills the server, and starts another one on it. It measures the time to
the first answer (which may be that it is catching up), and until it is whole: all queries run,
and a row that is pushed has gone through a tick. Both count from the start of the process, imports
of Python, and the JVM, included. Goals: 5 s and 30 s. On a machine that does other things as well,
the time that the process has worked tells more.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks._harness import Figure, Report, option_parser, present
from benchmarks._serving import Served

ANSWERS, WHOLE = 5.0, 30.0
EACH = 500
"""Rows of an INSERT."""

PROBE = "CREATE STREAM probe (n BIGINT, at BIGINT) ORDERED BY at"
BID = "CREATE STREAM bid (item BIGINT, price DOUBLE, at BIGINT) ORDERED BY at"
LIVES = "CREATE QUERY probes AS SELECT COUNT(*) AS n FROM probe WINDOW(RANGE 5); START QUERY probes"

Life = Callable[[Served, int], None]


def relation_rows(server: Served, size: int) -> None:
    """A relation of many rows, with changes in many requests."""
    for start in range(0, size, EACH):
        rows = ", ".join(f"({n}, 'name {n}')" for n in range(start, min(start + EACH, size)))
        server.done("POST", "statements", {"sql": f"INSERT INTO item VALUES {rows}"})
        sql = f"DELETE FROM item WHERE id % 50 = {start // EACH % 50}"
        server.done("POST", "statements", {"sql": sql})
    push(server, range(1000))


def many_queries(server: Served, size: int) -> None:
    """Many queries, and many small ticks since they were started."""
    for number in range(size):
        sql = f"""SELECT item, COUNT(*) AS n, MAX(price) AS price FROM bid
            WINDOW(RANGE {10 + number}) WHERE item > {number % 7} GROUP BY item"""
        server.done("POST", "queries", {"name": f"q{number}", "sql": sql})
    for tick in range(106):
        push(server, range(tick * 10, tick * 10 + 10))


def large_state(server: Served, size: int) -> None:
    """A join and an aggregate that remember many rows."""
    for start in range(0, size, 20_000):
        push(server, range(start, min(start + 20_000, size)))


def not_ticked(server: Served, size: int) -> None:
    """Rows that were acknowledged and that no tick has taken."""
    for start in range(0, size, 5000):
        push(server, range(start, min(start + 5000, size)), wait=False)


RELATION = f"""{BID}; CREATE RELATION item (id BIGINT, name STRING) CHANGING;
CREATE QUERY named AS SELECT b.item, i.name FROM bid AS b, item AS i WHERE b.item = i.id;
START QUERY named"""
STATE = f"""{BID};
CREATE QUERY large AS SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 1000000000) GROUP BY item;
CREATE QUERY pairs AS SELECT a.item, b.price FROM bid AS a WINDOW(RANGE 1000000000),
    bid AS b WINDOW(RANGE 100) WHERE a.item = b.item;
START QUERY large; START QUERY pairs"""
COUNTS = f"""{BID};
CREATE QUERY counts AS SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 100) GROUP BY item;
START QUERY counts"""

CASES: dict[str, tuple[str, Life, int, tuple[str, ...]]] = {
    "20,000 relation rows, many changes": (RELATION, relation_rows, 20_000, ()),
    "200 queries, 106 small ticks": (BID, many_queries, 200, ()),
    "a large state": (STATE, large_state, 500_000, ()),
    "pushed rows in no tick": (COUNTS, not_ticked, 200_000, ("--every", "60 min")),
}

QUICK_ON_SPARK = "a large state"


def push(server: Served, numbers: range, wait: bool = True) -> None:
    rows = [{"item": n % 100_003, "price": n / 7, "at": n // 10} for n in numbers]
    server.done("POST", f"streams/bid/rows?wait={str(wait).lower()}", rows)


def main(arguments: list[str] | None = None) -> None:
    parser = option_parser(__doc__ or "")
    parser.add_argument("--runtime", choices=["inprocess", "spark"], action="append")
    asked = parser.parse_args(arguments)
    runtimes = asked.runtime or ["inprocess", "spark"]
    report = Report("restarts", {"quick": asked.quick})
    for name in CASES:
        for runtime in runtimes:
            case = f"{name}, {runtime}"
            # Each takes two starts of a JVM on Spark: the quick run has one.
            is_short = not asked.quick or runtime != "spark" or name == QUICK_ON_SPARK
            if asked.only in case and is_short:
                report.figures += measure(case, name, runtime, asked.quick)
    present(report, "Restarts", asked)


def measure(case: str, name: str, runtime: str, quick: bool) -> Iterator[Figure]:
    """Make a folder, kill its server, and start another one."""
    script, live, size, options = CASES[name]
    script, size = f"{script}; {PROBE}; {LIVES}", size // 20 if quick else size
    fabric = ("--runtime", runtime)
    with tempfile.TemporaryDirectory() as folder:
        first = Served(Path(folder), script, *fabric, *options)
        try:
            first.is_ready()
            live(first, size)
            before = first.done("GET", "queries")
        finally:
            first.end(signal.SIGKILL)
        second = Served(Path(folder), script, *fabric)
        try:
            yield Figure(case, "first answer", "s", second.answers(), goal=ANSWERS, less=True)
            yield Figure(case, "whole", "s", whole(second, before), goal=WHOLE, less=True)
            if (worked := second.cpu_seconds) is not None:
                yield Figure(case, "whole, CPU of its process", "s", worked)
        finally:
            second.end()


def whole(server: Served, before: list[dict[str, Any]]) -> float:
    """Seconds until all queries run that ran before, and a tick was made of what there is."""
    server.is_ready()
    server.done("POST", "streams/probe/rows?wait=true", [{"n": 1, "at": 1}])
    found = server.seconds
    after = {each["name"]: each["state"] for each in server.done("GET", "queries")}
    if after != {each["name"]: each["state"] for each in before}:
        raise RuntimeError(f"not all queries go on: {after}")
    return found


if __name__ == "__main__":
    main()
