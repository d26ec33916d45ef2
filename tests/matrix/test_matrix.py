"""Every cell of the table in docs/capabilities.md: what says yes works, what is refused is."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.matrix.cells import Case, Cell, cells_of
from tests.matrix.groups import GROUPS


def _case(cell: Cell) -> object:
    marks = [] if cell.is_quick else [pytest.mark.slow]
    if cell.fabric == "spark":
        marks.append(pytest.mark.spark)
    return pytest.param(cell, id=cell.name, marks=marks)


@pytest.mark.parametrize("cell", [_case(cell) for cell in cells_of(GROUPS)])
def test_cell(
    cell: Cell,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    session = request.getfixturevalue("session") if cell.fabric == "spark" else None
    tools = {
        "output": lambda: capsys.readouterr().out,
        **{
            name: partial(request.getfixturevalue, name) for name in ("broker", "database", "topic")
        },
    }
    cell.attempt(Case(cell.way, cell.fabric, tmp_path, session, tools))
