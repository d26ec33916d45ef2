import pytest
from typer.testing import CliRunner

import tidemill
from tests.cli.conftest import Invoke
from tidemill.cli import app
from tidemill.cli.auction import auction


@pytest.mark.parametrize("width", [80, 100, 120])
def test_tour(width: int) -> None:
    result = CliRunner(env={"COLUMNS": str(width), "TERM": "dumb"}).invoke(app, ["demo"])
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= width
    for part in ("The one idea", "EXCEPT", "[━━━", "error: unknown column", "^^^^^", "took"):
        assert part in result.stdout
    assert "late" not in result.output


def test_pause_waits_for_enter(invoke: Invoke) -> None:
    assert invoke("demo", "--pause", input="\n" * 5).exit_code == 0


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
    assert invoke("shell").exit_code == 2
