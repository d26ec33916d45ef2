"""`make fuzz-server`: `python -m tests.server.fuzz --requests 100000 --seed 1`."""

from __future__ import annotations

import argparse
import sys

from tests.server.fuzz.campaign import BATCH, campaign


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    wrong = 0
    for number in range(0, wanted.requests, BATCH):
        tally = campaign(wanted.seed * 10**9 + number, BATCH)
        wrong += len(tally.wrong)
        print(number + BATCH, dict(tally.statuses), *tally.wrong, sep="\n", flush=True)
    sys.exit(f"{wrong} answers were wrong" if wrong else 0)


if __name__ == "__main__":
    main()
