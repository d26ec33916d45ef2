"""The auction benchmark against its goals: Tidemill on Spark, Spark's own API, and Flink.

With 12.1 million events (10 million bids) it takes a long time; `--quick` takes less than a minute
and leaves out Flink and the comparison of answers. Flink takes part if `make bench-peers` was run.
`tidemill bench nexmark` is the same with more to choose.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from _harness import Options, options, show

from tidemill import TidemillError
from tidemill.nexmark.bench.report import AUCTION, Report
from tidemill.nexmark.bench.run import Plan
from tidemill.nexmark.bench.runner import Runner
from tidemill.nexmark.bench.systems import System, choose_peers
from tidemill.nexmark.queries import QUERIES

# Quick is as much as systems are warmed up with: there is only one set of data to generate.
EVENTS, QUICK_EVENTS = 12_100_000, 24_200
QUICK_QUERIES = ("q1", "counts")
LIMIT = 900.0


def plan(asked: Options, folder: Path) -> Plan:
    names = [n for n in (QUICK_QUERIES if asked.quick else QUERIES) if asked.only in n]
    return Plan(
        events=QUICK_EVENTS if asked.quick else EVENTS,
        queries=[QUERIES[name] for name in names],
        peers=choose_peers("spark") if asked.quick else peers(),
        folder=folder,
        compare=not asked.quick,
        fewest_ticks=2 if asked.quick else 4,
    )


def peers() -> list[System]:
    try:
        return choose_peers("spark,flink")
    except TidemillError:
        return choose_peers("spark")


def main() -> None:
    asked = options(__doc__ or "")
    began = time.monotonic()

    def note(text: str) -> None:
        print(f"{time.monotonic() - began:7.1f} s  {text}", file=sys.stderr)

    with (
        tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder,
        # One process for all queries starts only once, but has the memory of all of them.
        Runner(limit=LIMIT, fresh=not asked.quick, note=note) as runner,
    ):
        report = Report(AUCTION, plan(asked, Path(folder)), runner)
        report.measure(asked.json)
    for table in report.tables():
        show(table)
    print(report.summary())


if __name__ == "__main__":
    main()
