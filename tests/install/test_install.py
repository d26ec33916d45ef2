"""What an installation needs: the core alone runs queries, and a wheel brings everything along."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidemill.cli.app import COMMANDS, loaded

ROOT = Path(__file__).parents[2]
EXTRAS = (
    "pyspark pandas py4j fastapi uvicorn starlette psycopg httpx websockets prompt_toolkit "
    "confluent_kafka fastavro"
)

WITHOUT_EXTRAS = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS.split()!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
QUERY = """
import tidemill as tm

engine = tm.Engine(runtime="inprocess")
engine.stream("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}], time="at")
query = engine.sql("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item")
print([tuple(row.values()) for row in query.collect().to_pylist()])
"""
ANSWER = "[(1, 1, 3, 5), (1, 2, 5, 7), (1, 1, 7, 9)]\n"


def _run(code: str, python: str = sys.executable, **options) -> str:
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_core_runs_queries_without_the_extras():
    assert _run(WITHOUT_EXTRAS + QUERY) == ANSWER


def test_what_is_missing_is_said_with_what_to_install():
    code = """
import tidemill as tm
from typer.testing import CliRunner
from tidemill.cli.app import app

for name in ("serve", "shell", "top"):
    print(CliRunner().invoke(app, [name]).output)
try:
    tm.Engine().spark
except tm.TidemillError as error:
    print(error.help)
engine = tm.Engine(runtime="inprocess")
engine.sql(
    "CREATE STREAM bid (item BIGINT, at BIGINT) "
    "SOURCE kafka(servers => 'x', topic => 'bid') ORDERED BY at"
)
try:
    engine.sql("SELECT item FROM bid").collect()
except tm.TidemillError as error:
    print(error.help)
"""
    said = _run(WITHOUT_EXTRAS + code)
    assert said.count("help: pip install 'tidemill[server]'") == 3
    assert "pip install 'tidemill[spark]'" in said
    assert "pip install 'tidemill[kafka]'" in said


def test_imports_load_no_more_than_they_need():
    loads = "import sys; import {}; print([m for m in {!r}.split() if m in sys.modules])"
    spark_or_server = "pyspark pandas fastapi uvicorn psycopg confluent_kafka"
    assert _run(loads.format("tidemill.engine", spark_or_server)) == "[]\n"
    engine = "tidemill.engine tidemill.physical tidemill.runtime duckdb numba pyspark fastapi"
    assert _run(loads.format("tidemill.client", engine)) == "[]\n"
    assert _run(loads.format("tidemill.cli.app", f"{engine} polars")) == "[]\n"


def test_help_is_there_at_once():
    code = """
import time
from typer.testing import CliRunner
from tidemill.cli.app import app

assert CliRunner().invoke(app, ["--help"]).exit_code == 0
print(time.process_time())
"""
    assert min(float(_run(code)) for _ in range(3)) < 0.3


def test_the_package_is_a_command_too():
    command = [sys.executable, "-m", "tidemill", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tidemill ")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_their_own_words(name):
    found = loaded(name)
    first = inspect.cleandoc(found.help or "").split("\n\n")[0]
    assert " ".join(first.split()) == COMMANDS[name]


def test_extras_are_ranges_and_the_lock_is_within_them():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    wanted = re.findall(r'"([a-z_-]+)(?:\[\w+\])?>=([\d.]+),<([\d.]+)"', text)
    assert {"polars", "pyspark", "fastapi", "psycopg", "matplotlib"} <= {
        name for name, *_ in wanted
    }
    lock = dict(re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / "requirements.lock").read_text(), re.M))
    pinned = {name.replace("-", "_").lower(): version for name, version in lock.items()}
    for name, least, below in wanted:
        version = pinned[name.replace("-", "_")]
        numbers = [tuple(map(int, each.split("."))) for each in (least, version, below)]
        assert numbers == sorted(numbers), name


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_runs_a_query(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", tmp_path, ROOT], check=True, capture_output=True)
    [wheel] = tmp_path.glob("tidemill-*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode and re.search("connection|resolve|No matching distribution", done.stderr):
        pytest.skip("packages cannot be installed here")
    assert done.returncode == 0, done.stderr
    elsewhere = {"cwd": tmp_path, "env": {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}}
    assert _run(QUERY, python, **elsewhere) == ANSWER
    help = subprocess.run(
        [str(tmp_path / "venv" / "bin" / "tidemill"), "run", "-c", "SHOW TABLES", "-f", "csv"],
        capture_output=True,
        text=True,
        **elsewhere,
    )
    assert help.stdout == "name,kind\n", help.stderr
