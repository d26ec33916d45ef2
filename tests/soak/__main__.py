"""`make soak`: `python -m tests.soak --seconds 1800`."""

from __future__ import annotations

import argparse

from tests.soak.bursts import run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800.0)
    report = run(parser.parse_args().seconds)
    assert report.checked, "no answer was looked at: let it run for longer"
    assert report.changes, "nothing had to be adapted: the bound is too wide"
    print(f"soak: {report}")


if __name__ == "__main__":
    main()
