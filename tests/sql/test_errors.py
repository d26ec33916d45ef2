"""Errors keep their facts as fields and show them as text."""

from __future__ import annotations

import pickle
import warnings

import pytest

from tidemill import errors
from tidemill.errors import PlanError, PlanWarning, TidemillError, UnsupportedError, nearest

SQL = "SELECT *\nWHERE prise > 10"


def example() -> PlanError:
    return PlanError(
        "unknown column `prise` in stream `trades`",
        line=2,
        column=7,
        length=5,
        help="did you mean `price`? columns: ts, symbol, price",
        sql=SQL,
    )


def test_text() -> None:
    assert str(example()) == (
        "error: unknown column `prise` in stream `trades`\n"
        "  line 2, column 7\n"
        "    WHERE prise > 10\n"
        "          ^^^^^\n"
        "help: did you mean `price`? columns: ts, symbol, price"
    )


def test_caret_follows_tabs_and_stops_at_the_end_of_the_line() -> None:
    error = TidemillError("x", line=1, column=3, length=99, sql="\ta bc\r\nnext")
    assert str(error).split("\n")[2:] == ["    \ta bc", "    \t ^^^"]


def test_position_without_source() -> None:
    assert str(TidemillError("x", line=1, column=3)) == "error: x\n  line 1, column 3"


def test_errors_cross_processes() -> None:
    error = pickle.loads(pickle.dumps(example()))
    assert type(error) is PlanError
    assert error.fields() == example().fields()


def test_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(PlanWarning("state grows", help="add a window"), stacklevel=1)
    assert str(caught[0].message) == "warning: state grows\nhelp: add a window"
    assert caught[0].category is PlanWarning


def test_hierarchy() -> None:
    assert issubclass(UnsupportedError, PlanError)
    for name in ("SqlSyntaxError", "PlanError", "CatalogError", "ExecutionError"):
        assert issubclass(getattr(errors, name), TidemillError)
    assert not issubclass(PlanWarning, TidemillError)


@pytest.mark.parametrize(
    ("name", "expected"), [("SYMBL", "symbol"), ("Price", "price"), ("qqq", None)]
)
def test_nearest(name: str, expected: str | None) -> None:
    assert nearest(name, ["ts", "symbol", "price"]) == expected
