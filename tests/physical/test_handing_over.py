"""Operators go from process to process with the state of a partition."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Schema
from tidemill.algebra.scalar import Scalar
from tidemill.expressions import UserFunction
from tidemill.expressions.compiled import Compiled, compile_items


def test_user_functions_are_known_where_operators_go() -> None:
    """DuckDB knows them by a name that another thread or process does not have."""
    twice = UserFunction("twice", lambda value: 2 * value, pa.int64())
    call = Scalar(exp.Anonymous(this="TWICE", expressions=[exp.column("v")]), pa.int64())
    compiled = compile_items([("w", call)], Schema.of(v=pa.int64()), {"twice": twice})
    frame = pl.DataFrame({"v": [1, 2]})
    assert compiled.run(frame)["w"].to_list() == [2, 4]
    body = cloudpickle.dumps(compiled)

    def elsewhere() -> list[int]:
        arrived = pickle.loads(body)
        assert isinstance(arrived, Compiled)
        return arrived.run(frame)["w"].to_list()

    with ThreadPoolExecutor(1) as other:
        assert other.submit(elsewhere).result() == [2, 4]
