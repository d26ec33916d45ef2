from __future__ import annotations

import pyarrow as pa
import pytest

from tests.connectors.sinks.rows import FORMS, LOOKS, NAMES, SCHEMA, TWO, given, tuples
from tidemill.connectors.sinks import FormShape
from tidemill.connectors.sinks.function import FunctionSink


@pytest.mark.parametrize("form", FORMS)
def test_it_is_called_with_rows_and_with_every_snapshot(form: str) -> None:
    calls: list[tuple[pa.Table, int]] = []
    sink = FunctionSink(FormShape(form, SCHEMA), lambda table, tick: calls.append((table, tick)))
    for tick, frame in ((0, TWO.clear()), (1, TWO), (1, TWO)):
        sink.give(given(form, frame), tick)
    assert [tick for _, tick in calls] == ([0, 1, 1] if form == "snapshot" else [1, 1])
    assert {tuple(table.column_names) for table, _ in calls} == {tuple(NAMES[form])}
    assert tuples(calls[-1][0]) == LOOKS[form]


def test_what_it_raises_is_raised() -> None:
    def fail(table: pa.Table, tick: int) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        FunctionSink(FormShape("live", SCHEMA), fail).give(TWO, 0)
