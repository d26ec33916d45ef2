import io
from importlib import import_module

import pytest
from rich.console import Console
from typer.testing import CliRunner

import tidemill
from tests.cli.conftest import Invoke
from tidemill.cli import app
from tidemill.cli.auction import auction
from tidemill.nexmark.generate import Size
from tidemill.nexmark.queries import QUERIES

demo = import_module("tidemill.cli.demo")  # the package has the command under this name


@pytest.mark.parametrize("width", [80, 100, 120])
def test_tour(width: int) -> None:
    runner = CliRunner(env={"COLUMNS": str(width), "TERM": "dumb"})
    result = runner.invoke(app, ["demo", "--runtime", "inprocess"])
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= width
    for part in ("The one idea", "EXCEPT", "[━━━", "error: unknown column", "^^^^^", "took"):
        assert part in result.stdout
    assert "late" not in result.output


def test_pause_waits_for_enter(invoke: Invoke) -> None:
    tour = ("demo", "--runtime", "inprocess", "--pause")
    assert invoke(*tour, input="\n" * 5).exit_code == 0


@pytest.mark.spark
@pytest.mark.slow
def test_eight_queries_on_spark() -> None:
    runner = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"})
    result = runner.invoke(app, ["demo", "--bids", "3000", "--pause"], input="\n" * 4)
    assert result.exit_code == 0, result.output
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    spark = lines.index("generating 3,000 bids …")
    assert any("[━━━" in line for line in lines[:spark]), "pictures come before Spark is there"
    assert spark < lines.index("Press Enter to continue")
    for query in QUERIES.values():
        if query.name.startswith("q"):
            (line,) = [line for line in lines if line.startswith(f"{query.name} {query.title}: ")]
            assert f"rows in {query.events(Size(3000)):,}, " in line
            assert line.endswith("late 0, watermark end")
    assert "q1      Every bid with its price in euros" in result.stdout
    drawn = sum("┼───" in line for line in lines[spark:])
    assert drawn == 3, "three answers have a picture"
    for part in ("SELECT h.item, h.bids", "error: unknown column", "Where to go next"):
        assert part in result.stdout
    assert "Traceback" not in result.output


def test_the_afternoon_repeats() -> None:
    assert auction() == auction()
    assert auction().rows > 3000


def test_version(invoke: Invoke) -> None:
    assert invoke("--version").stdout == f"tidemill {tidemill.__version__}\n"


def test_help_lists_the_commands(invoke: Invoke) -> None:
    output = invoke("--help").output
    assert all(command in output for command in ("demo", "run", "explain"))
    assert invoke("run", "-h").exit_code == 0


def test_unknown_command(invoke: Invoke) -> None:
    assert invoke("shel").exit_code == 2


@pytest.mark.parametrize(
    ("terminal", "answer", "opened"), [(True, True, 1), (True, False, 0), (False, True, 0)]
)
def test_the_demo_ends_by_offering_the_page(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, answer: bool, opened: int
) -> None:
    """Where nobody can answer, it does not ask."""
    served: list[dict[str, object]] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: answer)
    monkeypatch.setattr(demo, "serve", lambda **options: served.append(options))
    demo.offer_the_page(Console(force_terminal=terminal, file=io.StringIO()))
    assert served == [{"demo": True, "open_page": True}] * opened
