"""How the speed of Tidemill on Spark changes as there is more to do.

Queries of the auction benchmark run with windows × 10 and × 100, events × 10, one partition, and
two executors: every case differs from the first in one thing. `--quick` runs one query on few rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.auction.command import Defaults, parser, run
from benchmarks.auction.report import GROWTH

USUAL = Defaults(events=1_210_000, queries="counts,sellers")
QUICK = Defaults(events=12_100, queries="counts")


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__ or "").parse_args(arguments)
    run(GROWTH, asked, QUICK if asked.quick else USUAL, compare=False)


if __name__ == "__main__":
    main()
