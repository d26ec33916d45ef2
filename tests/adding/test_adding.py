"""How much a new operator costs: files are counted, and the operator is used everywhere."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tidemill
from tests.adding.symmetric_difference import add_to

SOURCE = Path(tidemill.__file__).parent
MOST = 8


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the new operation."""
    copy = tmp_path_factory.mktemp("tree") / "tidemill"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "page"))
    touched = add_to(copy)
    files = {str(path.relative_to(copy)) for path in copy.rglob("*.py")}
    _, changed, new = filecmp.cmpfiles(SOURCE, copy, sorted(files), shallow=False)
    assert {*changed, *new} == touched
    assert len(touched) <= MOST
    return copy


def use(tree: Path, runtime: str) -> None:
    path = os.pathsep.join([str(tree.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "error::UserWarning", str(Path(__file__).parent / "use.py")]
    done = subprocess.run(
        [*command, runtime], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.stdout.endswith("fine\n"), done.stderr[-4000:]


def test_a_set_operation_in_process(tree: Path) -> None:
    use(tree, "inprocess")


@pytest.mark.slow
@pytest.mark.spark
def test_a_set_operation_on_spark(tree: Path) -> None:
    use(tree, "spark")
