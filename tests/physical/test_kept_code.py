"""Compiled functions are kept on disk, by this version of the package or another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODULE = """
from typing import NamedTuple
import numpy as np
from tidemill.physical.mechanisms.compiled import compiled_for

class {name}(NamedTuple):
    numbers: np.ndarray

@compiled_for({name}(np.zeros(1)))
def first(given):
    return given.numbers[0]

print(first({name}(np.ones(1))), sum(first.stats.cache_hits.values()))
"""


def run(folder: Path, name: str) -> str:
    (folder / "kept_code.py").write_text(MODULE.format(name=name))
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", "import kept_code"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_code_that_is_kept_under_other_names_is_compiled_again(tmp_path: Path) -> None:
    assert run(tmp_path, "Before") == "1.0 0"
    assert run(tmp_path, "After") == "1.0 0"
