"""One DuckDB connection per thread, used only to evaluate expressions."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Sequence

import duckdb
import pyarrow as pa
from duckdb.func import SPECIAL

from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.functions import Functions, UserFunction


class _Thread(threading.local):
    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        # DuckDB complains at exit about user functions of a connection that is still open.
        atexit.register(self.connection.close)
        # Parallelism comes from the partitions of a runtime, not from within an operator.
        self.connection.execute("SET threads = 1")
        self.connection.execute("SET TimeZone = 'UTC'")
        self.names: dict[tuple[UserFunction, tuple[str, ...]], str] = {}


_thread = _Thread()


def connection() -> duckdb.DuckDBPyConnection:
    """This thread's connection."""
    return _thread.connection


def register(function: UserFunction, arguments: Sequence[pa.DataType]) -> str:
    """Make a user function callable for these argument types; the name to call it by."""
    types = tuple(duckdb_type(argument) for argument in arguments)
    key = (function, types)
    if key not in _thread.names:
        name = f"user_{len(_thread.names)}_{function.name.lower()}"
        _thread.connection.create_function(
            name,
            function.call,
            [duckdb.sqltype(each) for each in types],
            duckdb.sqltype(duckdb_type(function.type)),
            null_handling=SPECIAL,
        )
        _thread.names[key] = name
    return _thread.names[key]


def registered() -> Functions:
    """The user functions of this thread under the names that DuckDB knows."""
    return {name: function for (function, _), name in _thread.names.items()}
