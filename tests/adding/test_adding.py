"""How much a new thing costs: files are counted, and it is used everywhere."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adding.others import add_route, add_rule, add_sink
from tests.adding.symmetric_difference import add_to
from tests.adding.tree import SOURCE, Tree

HERE = Path(__file__).parent
STEPS = {"rule": add_rule, "sink": add_sink, "route": add_route}


def added(folder: Path, add: Callable[[Tree], None], most: int) -> Tree:
    """A copy of the sources with something new, in no more than so many files."""
    tree = Tree(folder)
    add(tree)
    files = {str(path.relative_to(tree.root)) for path in tree.root.rglob("*.py")}
    _, changed, new = filecmp.cmpfiles(SOURCE, tree.root, sorted(files), shallow=False)
    assert {*changed, *new} == tree.touched
    assert len(tree.touched) <= most
    return tree


def use(tree: Tree, script: str, *arguments: str) -> None:
    known = filter(None, [os.environ.get("PYTHONPATH")])
    path = os.pathsep.join([str(tree.root.parent), str(HERE.parents[1]), *known])
    command = [sys.executable, "-W", "error::UserWarning", str(HERE / script), *arguments]
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.stdout.endswith("fine\n"), done.stderr[-4000:]


@pytest.fixture(scope="module")
def with_operator(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return added(tmp_path_factory.mktemp("operator"), add_to, most=8)


def test_a_set_operation_in_process(with_operator: Tree) -> None:
    use(with_operator, "use.py", "inprocess")


@pytest.mark.slow
@pytest.mark.spark
def test_a_set_operation_on_spark(with_operator: Tree) -> None:
    use(with_operator, "use.py", "spark")


@pytest.mark.parametrize(
    ("what", "runtime"),
    [
        ("rule", "inprocess"),
        ("sink", "inprocess"),
        ("route", "inprocess"),
        pytest.param("rule", "spark", marks=[pytest.mark.slow, pytest.mark.spark]),
        pytest.param("sink", "spark", marks=[pytest.mark.slow, pytest.mark.spark]),
    ],
)
def test_what_is_added_to_few_files(tmp_path: Path, what: str, runtime: str) -> None:
    use(added(tmp_path, STEPS[what], most=4), "use_others.py", what, runtime)
