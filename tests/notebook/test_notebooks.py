"""The example notebooks run, cell by cell, and are kept without outputs."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import tidemill as tm
from tests.notebook.shells import SHELLS
from tests.notebook.test_html import seen
from tidemill.notebook.charts import Chart

FOLDER = Path(__file__).parent.parent.parent / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(notebook: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each cell that runs."""
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield cell["id"], "".join(cell["source"])


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("make_shell", SHELLS.values(), ids=SHELLS)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_cell_fails(notebook: Path, make_shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notebook.parent)
    shell, shown = make_shell(), dict[str, object]()
    with warnings.catch_warnings():
        warnings.simplefilter("error", tm.PlanWarning)
        for name, text in code_cells(notebook):
            shown[name] = shell.run_cell(text)
            assert shell.tracebacks == [], (name, shell.tracebacks)
    outputs = [output for output in shown.values() if output is not None]
    assert {Chart, tm.Engine, tm.Query, list, pl.DataFrame} <= set(map(type, outputs))
    for output in outputs:
        if isinstance(output, list):
            assert output
        elif isinstance(output, pl.DataFrame):
            assert output.height
        else:
            assert "no rows;" not in seen(output)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    content = json.loads(notebook.read_text("utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in content["cells"]]
    assert len(set(names)) == len(names)
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
