"""Flink SQL: where it is, what it is asked, and its input. `flink_job` is what it runs.

Flink's Python package has no reader of Parquet files, so it reads the same rows as CSV.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchmarks.auction.measure import SAME, Form
from tidemill.errors import TidemillError
from tidemill.nexmark.generate import STREAMS

NAME = "flink"
PYTHON = "TIDEMILL_FLINK_PYTHON"
_HOPS = "every 10 minutes only, nothing in between"
_QUESTIONS = {
    "q1": {"q1": SAME},
    "q2": {"q2": SAME},
    "q3": {"q3": SAME},
    "q4": {"q4": "every minute only, nothing in between, and one of equal bids"},
    "q5": {"q5": SAME},
    "q6": {"q6": f"{_HOPS}, and one of equal items"},
    "q7": {"q7": SAME},
    "q8": {"q8": SAME},
    "sellers": {"sellers": SAME},
    "counts": {
        "counts": f"counts {_HOPS}",
        "counts over": "counts when a bid comes, not when one expires",
    },
}


def forms(query: str) -> Sequence[Form]:
    """How it is asked: `counts over` of the query `counts` is shown as the system `flink over`."""
    return [
        Form(name.replace(query, NAME, 1), name, f"{question}; from CSV, no checkpoints")
        for name, question in _QUESTIONS[query].items()
    ]


def interpreter() -> str:
    """The Python that has Flink."""
    python = os.environ.get(PYTHON, ".venv-flink/bin/python")
    if not Path(python).exists():
        raise TidemillError(
            "Flink is not installed",
            help=f"run `make bench-peers`, or set {PYTHON}, or leave flink out of --peers",
        )
    return python


def to_csv(data: Path, slots: int) -> Path:
    """The same rows as CSV: one file for each slot, every one in order of time.

    With a file per slot no reader ever goes back in time, so that Flink drops no row as late.
    """
    folder = data.with_name(f"{data.name}-csv-{slots}")
    if folder.exists():
        return folder
    # Under another name until it is complete: an interrupted run leaves nothing half made.
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    for stream in STREAMS:
        rows = pl.scan_parquet(data / stream / "*.parquet").with_row_index("#")
        (unfinished / stream).mkdir(parents=True, exist_ok=True)
        for slot in range(slots):
            own = rows.filter(pl.col("#") % slots == slot).drop("#").collect()
            file = unfinished / stream / f"{slot}.csv"
            own.write_csv(file, include_header=False, datetime_format="%Y-%m-%d %H:%M:%S%.3f")
    return unfinished.rename(folder)


def read_answer(folder: Path) -> pl.DataFrame:
    """What Flink has written below a folder."""
    parts = [file for file in folder.rglob("*") if file.is_file() and file.stat().st_size]
    frames = [pl.read_csv(file, has_header=False, try_parse_dates=True) for file in parts]
    return pl.concat(frames, how="vertical_relaxed")
