from __future__ import annotations

import polars as pl

from tests.connectors.sinks.rows import NESTED, NESTED_ROWS, TWO
from tidemill.connectors.sinks import in_order, user_table


def test_rows_are_in_order_of_time_and_values() -> None:
    assert in_order(TWO.reverse(), "valid_from").equals(TWO)
    values = pl.DataFrame({"a": [2, None, 1], "l": [[1], [2], [3]]})
    assert in_order(values)["a"].to_list() == [None, 1, 2]


def test_without_keys_rows_stay_as_they_are() -> None:
    lists = pl.DataFrame({"l": [[2], [1]]})
    assert in_order(lists).equals(lists)


def test_types_are_those_of_the_plan() -> None:
    table = user_table(NESTED_ROWS, NESTED, None, "valid_from", "valid_to")
    assert table.select(NESTED.names).schema == NESTED.to_arrow()
    assert table["valid_to"].to_pylist() == [2, 2, None]
