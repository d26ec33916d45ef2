"""Flink SQL, run by the interpreter of its own virtual environment (`make bench-peers`)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tidemill.errors import TidemillError
from tidemill.nexmark.bench import flink_job
from tidemill.nexmark.bench.measure import SAME, Setting, Spent
from tidemill.nexmark.bench.processes import Peak

NAME = "flink"
PYTHON = "TIDEMILL_FLINK_PYTHON"
QUESTIONS = {
    "q1": {"q1": SAME},
    "q2": {"q2": SAME},
    "q3": {"q3": SAME},
    "sellers": {"sellers": SAME},
    "counts": {
        "counts": "counts every 10 minutes only, nothing in between",
        "counts over": "counts when a bid comes, not when one expires",
    },
}


def interpreter() -> str:
    """The Python that has Flink."""
    python = os.environ.get(PYTHON, ".venv-flink/bin/python")
    if not Path(python).exists():
        raise TidemillError(
            "Flink is not installed",
            help=f"run `make bench-peers`, or set {PYTHON}, or leave flink out of --peers",
        )
    return python


def to_csv(data: Path, folder: Path, streams: Sequence[str], slots: int) -> None:
    """The same rows as CSV: one file for each slot, every one in order of time.

    With a file per slot no reader ever goes back in time, so that Flink drops no row as late.
    """
    for stream in streams:
        rows = pl.scan_parquet(data / stream / "*.parquet").with_row_index("#")
        for slot in range(slots):
            own = rows.filter(pl.col("#") % slots == slot).drop("#")
            file = folder / stream / f"{slot}.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            own.collect().write_csv(
                file, include_header=False, datetime_format="%Y-%m-%d %H:%M:%S%.3f"
            )


def run(names: Sequence[str], setting: Setting, warm: Path) -> dict[str, Spent]:
    """What every query took; all in one process, which is warmed up first."""
    with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder:
        streams = ("bid", "open_auction", "closed_auction")
        to_csv(setting.data, Path(folder, "data"), streams, setting.cores)
        to_csv(warm, Path(folder, "warm"), streams, setting.cores)
        request = {
            "queries": list(names),
            "data": f"{folder}/data",
            "warm": f"{folder}/warm",
            "cores": setting.cores,
        }
        seconds, memory = _asked(request)
    # Memory is that of the whole process; what a single query had of a core is not known.
    return {name: Spent(seconds[name], memory) for name in names}


def answer(names: Sequence[str], setting: Setting) -> dict[str, pl.DataFrame]:
    """The rows of the answers; in one slot, so that files of any size stay in order."""
    with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder:
        to_csv(setting.data, Path(folder, "data"), ("bid", "open_auction", "closed_auction"), 1)
        request = {
            "queries": list(names),
            "data": f"{folder}/data",
            "warm": f"{folder}/data",
            "cores": 1,
            "output": f"{folder}/output",
        }
        _asked(request)
        return {name: _read(Path(folder, "output", name)) for name in names}


def _read(folder: Path) -> pl.DataFrame:
    parts = [file for file in folder.rglob("*") if file.is_file() and file.stat().st_size]
    frames = [pl.read_csv(file, has_header=False, try_parse_dates=True) for file in parts]
    return pl.concat(frames, how="vertical_relaxed")


def _asked(request: dict[str, Any]) -> tuple[dict[str, float], int]:
    """Run the job in its own interpreter: its answer, and the memory that it needed."""
    command, pipe = [interpreter(), flink_job.__file__], subprocess.PIPE
    started = subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe)
    with started as job, Peak(job.pid) as peak:
        output, errors = job.communicate(json.dumps(request))
    if job.returncode:
        reason = (errors.strip().splitlines() or ["no reason given"])[-1]
        raise TidemillError(f"Flink failed: {reason}")
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    return result, peak.memory
