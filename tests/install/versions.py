"""Install Tidemill beside the oldest and the newest versions it allows, and run tests there.

    python -m tests.install.versions                 # every Python that is found, both ends
    python -m tests.install.versions --python 3.13 --end newest

Each combination is a fresh environment with the wheel, not the sources. Pythons are looked for on
the PATH and among those of pyenv; what is not there is skipped with a word.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", "3.12", "3.13")
ENDS = ("oldest", "newest")
WHAT = {
    "polars",
    "pyarrow",
    "duckdb",
    "sqlglot",
    "numba",
    "pyspark",
    "pandas",
    "fastapi",
    "uvicorn",
}
"""The packages whose oldest versions are taken; what they need is for pip to find."""

TESTS = (
    "tests/expressions/test_table.py",
    "tests/physical/test_golden.py",
    "tests/reference/test_golden.py",
    "tests/fabrics/test_language.py",
    "tests/install/test_install.py",
)
ON_SPARK = """
import tidemill as tm

with tm.Engine(partitions=2) as engine:
    engine.stream("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}], time="at")
    query = engine.sql("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item")
    assert [row["n"] for row in query.collect().to_pylist()] == [1, 2, 1]
    assert query.to_spark().count() == 3
"""


def oldest() -> Iterator[str]:
    """The lower ends of the ranges.

    >>> [each for each in oldest() if each.startswith("fastapi")]
    ['fastapi==0.162']
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    for wanted in (*project["dependencies"], *extras["spark"], *extras["server"]):
        found = re.match(r"([\w-]+)>=([\w.]+)", wanted)
        if found and found[1] in WHAT:
            yield f"{found[1]}=={found[2]}"


def python_of(version: str) -> str | None:
    """Where a Python is that makes environments."""
    on_path = [shutil.which(f"python{version}")]
    of_pyenv = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python"))
    for each in filter(None, (*on_path, *sorted(of_pyenv))):
        done = subprocess.run([each, "-c", "import venv, ensurepip"], capture_output=True)
        if done.returncode == 0:
            return str(each)
    return None


def wheel_in(folder: Path) -> Path:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", folder, ROOT], check=True)
    return next(folder.glob("tidemill-*.whl"))


def tried(python: str, end: str, wheel: Path, folder: Path) -> bool:
    """Whether tests pass in a new environment; what it has is printed."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = str(folder / "bin" / "python")
    tools = ["pytest", "pytest-xdist", "hypothesis"]
    wanted = [f"tidemill[spark,server,postgres] @ {wheel.as_uri()}", *tools]
    if end == "oldest":
        wanted += oldest()
    quiet = ["-qq", "--disable-pip-version-check"]
    if subprocess.run([own, "-m", "pip", "install", *quiet, *wanted]).returncode:
        return False
    shown = subprocess.run([own, "-m", "pip", "freeze"], capture_output=True, text=True).stdout
    print(*[line for line in shown.split() if line.partition("==")[0] in WHAT], flush=True)
    env = {**os.environ, "PYTHONPATH": "", "POLARS_MAX_THREADS": "1"}
    chosen = ["-q", "-x", "-m", "not slow and not spark", "-p", "no:cacheprovider", "-W", "default"]
    tests = subprocess.run([own, "-m", "pytest", *chosen, *TESTS], cwd=ROOT, env=env)
    spark = subprocess.run([own, "-W", "ignore", "-c", ON_SPARK], cwd=folder, env=env)
    return tests.returncode == 0 and spark.returncode == 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--python", choices=PYTHONS, action="append")
    options.add_argument("--end", choices=ENDS, action="append")
    given = options.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        wheel = wheel_in(Path(scratch))
        for version in given.python or PYTHONS:
            python = python_of(version)
            if python is None:
                print(f"== Python {version} is not here: skipped", flush=True)
                continue
            for end in given.end or ENDS:
                print(f"== Python {version}, {end} versions", flush=True)
                with tempfile.TemporaryDirectory() as folder:
                    if not tried(python, end, wheel, Path(folder)):
                        failed.append(f"{version} {end}")
    print(f"failed: {', '.join(failed)}" if failed else "all pass")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
