"""Cells of SQL and short errors, in a shell like that of IPython."""

import subprocess
import sys

import pytest

import tidemill as tm
from tests.notebook.shells import SHELLS, FakeShell

BIDS = [{"item": "lamp", "price": 30, "at": 1}, {"item": "vase", "price": 12, "at": 4}]


@pytest.fixture
def engine():
    with tm.Engine(runtime="inprocess") as engine:
        engine.stream("bid", BIDS, time="at")
        yield engine


@pytest.fixture(params=SHELLS)
def shell(request, engine):
    """A shell with an engine and the extension."""
    shell = SHELLS[request.param]()
    shell.user_ns["engine"] = engine
    shell.run_cell("%load_ext tidemill")
    return shell


def test_a_cell_runs_statements_and_shows_the_last_answer(shell, engine) -> None:
    cell = "%%tidemill\nCREATE VIEW dear AS SELECT item FROM bid WHERE price > 20;\nSHOW VIEWS;\n"
    answer = shell.run_cell(cell)
    assert answer.to_pylist() == [{"name": "dear", "kind": "view"}]
    query = shell.run_cell("%%tidemill\nSELECT item FROM dear\n")
    assert [row["item"] for row in query.collect().to_pylist()] == ["lamp"]
    assert shell.run_cell("%%tidemill\nDROP VIEW dear") is None


def test_an_answer_can_get_a_name(shell) -> None:
    shell.run_cell("%%tidemill --as dear\nSELECT item FROM bid WHERE price > 20")
    assert shell.run_cell("dear.collect().num_rows") == 1


def test_the_engine_can_be_named(shell, engine) -> None:
    other = tm.Engine(runtime="inprocess")
    shell.user_ns["other"] = other
    shell.run_cell("%%tidemill --engine other\nCREATE STREAM s (a BIGINT, at BIGINT) ORDERED BY at")
    assert other.catalog.names == ("s",)
    assert engine.catalog.names == ("bid",)


def test_the_only_engine_needs_no_usual_name(shell) -> None:
    shell.user_ns["shop"] = shell.user_ns["_"] = shell.user_ns.pop("engine")
    assert shell.run_cell("%%tidemill\nSELECT item FROM bid").collect().num_rows == 2


def test_errors_are_short(shell) -> None:
    shell.run_cell("%%tidemill\nSELECT item\nFROM bid WHERE prise > 20")
    assert shell.tracebacks == [
        [
            "error: unknown column `prise` in stream `bid`",
            "  line 2, column 16",
            "    FROM bid WHERE prise > 20",
            "                   ^^^^^",
            "help: did you mean `price`? columns: item, price",
        ]
    ]


def test_errors_in_python_cells_are_short_too(shell) -> None:
    shell.run_cell("engine.sql('SELEKT')")
    (lines,) = shell.tracebacks
    assert lines[0].startswith("error: ")
    assert not [line for line in lines if "Traceback" in line or ".py" in line]


def test_the_whole_traceback_is_at_hand(shell) -> None:
    shell.run_cell("engine.sql('SELEKT')")
    assert isinstance(sys.last_value, tm.SqlSyntaxError)
    assert sys.last_traceback is not None
    if not isinstance(shell, FakeShell):
        shell.run_cell("%tb")
        assert "Traceback" in "".join(shell.tracebacks[-1])


@pytest.mark.parametrize(
    ("cell", "names", "said"),
    [
        ("%%tidemill\nSHOW STREAMS", [], "there is no engine in this notebook"),
        ("%%tidemill\nSHOW STREAMS", ["a", "b"], "there are several engines: a, b"),
        ("%%tidemill --engine shp\nSHOW STREAMS", ["shop"], "did you mean `shop`?"),
        ("%%tidemill --engine\nSHOW STREAMS", ["engine"], "is not understood"),
        ("%%tidemill --limit 3\nSHOW STREAMS", ["engine"], "is not understood"),
        ("%%tidemill --as 'a\nSHOW STREAMS", ["engine"], "is not understood"),
    ],
)
def test_which_engine_is_unclear(shell, cell, names, said) -> None:
    del shell.user_ns["engine"]
    shell.user_ns.update({name: tm.Engine(runtime="inprocess") for name in names})
    shell.run_cell(cell)
    assert said in "\n".join(shell.tracebacks[-1])


def test_passwords_are_not_shown(shell) -> None:
    shell.run_cell("import tidemill; raise tidemill.TidemillError('postgres://ann:secret@host')")
    assert shell.tracebacks == [["error: postgres://ann:******@host"]]


def test_the_extension_can_be_unloaded() -> None:
    shell = FakeShell()
    shell.run_cell("%load_ext tidemill")
    shell.run_cell("%unload_ext tidemill")
    assert shell.magics_manager.magics["cell"] == {}
    with pytest.raises(tm.TidemillError):
        shell.run_cell("import tidemill; raise tidemill.TidemillError('here')")


def test_the_package_does_not_import_ipython() -> None:
    code = (
        "import sys; sys.modules['IPython'] = None\n"
        "import tidemill.notebook.extension, tidemill as tm\n"
        "engine = tm.Engine(runtime='inprocess')\n"
        "engine.stream('s', [{'a': 1, 'at': 1}], time='at')\n"
        "print(len(engine.sql('SELECT a FROM s')._repr_html_()) > 100)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"
