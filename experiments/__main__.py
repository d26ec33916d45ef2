"""Run all experiments, one after the other, and write the page that shows them together."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from experiments.frame import options
from experiments.index import TIMES, write_index
from experiments.pages import experiments


def main() -> None:
    given = sys.argv[1:]
    out = options(__doc__).out
    times, failed = {}, []
    for each in experiments():
        begin = time.monotonic()
        command = [sys.executable, "-m", f"experiments.{each.name}", *given]
        if subprocess.run(command, check=False).returncode:
            failed.append(each.name)
        times[each.name] = round(time.monotonic() - begin, 1)
    (out / TIMES).write_text(json.dumps(times, indent=1) + "\n", "utf-8")
    print(f"all of them in {sum(times.values()) / 60:.0f} minutes: {write_index(out)}")
    if failed:
        raise SystemExit(f"error: these failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
