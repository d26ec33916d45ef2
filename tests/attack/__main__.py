"""`make attack`: everything that ever went wrong, on purpose, and what came of it.

In full it takes less than an hour on two cores; `--share 0.1` does a tenth of it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from rich.console import Console

from tests.attack.attacks import ATTACKS, attack
from tests.attack.tally import Tally, table


def main() -> int:
    """Do what is asked for, and return 1 if anything is wrong."""
    options = _options()
    names = [name for name in ATTACKS if options.only in name]
    console, found = Console(), dict[str, Tally]()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.cores, mp_context=context) as pool:
        doing = [pool.submit(attack, name, options.share, options.seed) for name in names]
        for done in as_completed(doing):
            tally = done.result()
            found[tally.attack] = tally
            console.print(f"{tally.attack}: {tally.tries} tries, {len(tally.wrong)} wrong")
            for each in tally.wrong[:20]:
                console.print(f"  {each}", markup=False, highlight=False)
    tallies = [found[name] for name in names]
    console.print(table(tallies))
    if options.json:
        options.json.write_text(json.dumps([tally.fields() for tally in tallies], indent=1))
    return 1 if any(tally.wrong for tally in tallies) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="how much of it, 1 being all")
    parser.add_argument("--only", default="", help="attacks whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the table into this file, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
