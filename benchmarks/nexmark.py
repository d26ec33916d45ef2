"""The auction benchmark against its goals: Tidemill on Spark, Spark's own API, and Flink.

All systems read the same rows, one after the other, each in a process of its own on two cores;
start-up is not measured. With 12.1 million events (10 million bids) it takes a long time; `--quick`
takes less than a minute and leaves out Flink and the comparison of answers. Flink takes part if
`make bench-peers` was run.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.auction.command import Defaults, parser, run
from benchmarks.auction.report import AUCTION
from benchmarks.auction.systems import choose_peers
from tidemill import TidemillError

# Quick is as much as systems are warmed up with: there is only one set of data to generate.
QUICK = Defaults(events=24_200, queries="q1,counts", peers="spark")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__ or "")
    options.add_argument(
        "--peers", metavar="NAMES", help="some of spark, spark-memory, flink and inprocess"
    )
    asked = options.parse_args(arguments)
    usual = Defaults(events=12_100_000, queries="", peers=installed_peers())
    run(AUCTION, asked, QUICK if asked.quick else usual, compare=not asked.quick)


def installed_peers() -> str:
    try:
        choose_peers("flink")
    except TidemillError:
        return "spark"
    return "spark,flink"


if __name__ == "__main__":
    main()
