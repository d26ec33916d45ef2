"""One DuckDB connection per thread, used only to evaluate expressions."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import duckdb
import pyarrow as pa
from duckdb.func import SPECIAL

from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.expansion import LIBRARY
from tidemill.expressions.functions import UserFunction

# What one character becomes several by (ß: SS), and what depends on its place in a word.
_FULL_CASE: Final = {"spark_full_upper": str.upper, "spark_full_lower": str.lower}


class _Thread(threading.local):
    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        # DuckDB complains at exit about user functions of a connection that is still open.
        atexit.register(self.connection.close)
        # Parallelism comes from the partitions of a runtime, not from within an operator.
        self.connection.execute("SET threads = 1")
        self.connection.execute("SET TimeZone = 'UTC'")
        # Expressions go over rows one after the other: they need little, and no files.
        self.connection.execute("SET memory_limit = '4GB'")
        self.connection.execute("SET temp_directory = ''")
        for name, call in _FULL_CASE.items():
            self.connection.create_function(name, call, ["VARCHAR"], "VARCHAR")
        self.connection.execute(LIBRARY)
        self.connection.execute("SET enable_external_access = false")
        self.names: dict[tuple[UserFunction, Callable[..., Any], tuple[str, ...]], str] = {}


_thread = _Thread()


def connection() -> duckdb.DuckDBPyConnection:
    """This thread's connection."""
    return _thread.connection


def register(function: UserFunction, arguments: Sequence[pa.DataType]) -> str:
    """Make a user function callable for these argument types; the name to call it by."""
    types = tuple(duckdb_type(argument) for argument in arguments)
    # Functions of one name and version may still be others, with other values around them.
    key = (function, function.call, types)
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
