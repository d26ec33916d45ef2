"""Scalar expressions: their types, and their evaluation on columns.

An expression has one meaning, Spark's (with ANSI rules: overflow, a bad cast and a division by
zero are errors). Here it is evaluated by DuckDB.
"""

from tidemill.expressions.compiled import Compiled, compile_items
from tidemill.expressions.functions import UserFunction
from tidemill.expressions.typed import NotSupported, TypeMismatch
from tidemill.expressions.typing import check, fits, infer

__all__ = [
    "Compiled", "NotSupported", "TypeMismatch", "UserFunction", "check", "compile_items", "fits",
    "infer",
]  # fmt: skip
