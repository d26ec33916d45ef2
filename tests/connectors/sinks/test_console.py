from __future__ import annotations

import pytest

from tests.connectors.sinks.rows import FORMS, LOOKS, NAMES, SCHEMA, TWO, given
from tidemill.connectors.sinks import FormShape
from tidemill.connectors.sinks.console import ConsoleSink


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_printed(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleSink(FormShape(form, SCHEMA)).give(given(form), 4)
    lines = [
        "  " + ", ".join(f"{name}={value}" for name, value in zip(NAMES[form], row, strict=True))
        for row in LOOKS[form]
    ]
    assert capsys.readouterr().out.splitlines() == ["tick 4", *lines]


@pytest.mark.parametrize("form", FORMS)
def test_only_an_empty_snapshot_is_news(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleSink(FormShape(form, SCHEMA)).give(given(form, TWO.clear()), 4)
    assert capsys.readouterr().out == ("tick 4\n" if form == "snapshot" else "")
