"""IN with many constants: one constant list, which DuckDB reads faster than an expression each."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import is_numeric
from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import shared_type
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.translate import Translator
from tidemill.expressions.typed import BOOLEAN, STRING, Typed, quoted_text

_SEPARATORS = (",", ";", "|", "\n", "\x1f")


def in_list(parts: Translator, node: exp.Expr) -> Typed | None:
    """Whether a value is one of those that are written out; None if others are in the list.

    >>> from sqlglot import parse_one
    >>> from tidemill.algebra.schema import Schema
    >>> over = Translator(Schema.of(a=pa.int64()), {})
    >>> print(in_list(over, parse_one("a IN (1, 22, 3)")).sql)
    list_contains(CAST('[1,22,3]' AS BIGINT[]), "a")
    """
    choices = node.expressions
    if not all(isinstance(each, exp.Literal) for each in choices):
        return None
    # Where the longest of whole numbers, or of texts, fits, the others do.
    longest = _longest(choices)
    typed = [parts.of(each) for each in (choices if longest is None else [longest])]
    value = parts.of(node.this)
    shared = shared_type([value, *typed], node)
    found = None if longest is None else _read(choices, shared)
    if found is None:
        found = f"[{', '.join(cast(parts.of(each), shared).sql for each in choices)}]"
    # Looking in a table of the constants is fast, but DuckDB computes the value for all rows then,
    # also for those from which a CASE keeps it because it would fail.
    call = "list_contains" if isinstance(node.this.unnest(), exp.Column) else "spark_in"
    return Typed(f"{call}({found}, {cast(value, shared).sql})", BOOLEAN, node)


def _longest(choices: Sequence[exp.Expr]) -> exp.Expr | None:
    """The longest of whole numbers, or of texts; None if there are both, or anything else."""
    strings = sum(each.is_string for each in choices)
    if strings == len(choices) or (not strings and all(each.name.isdigit() for each in choices)):
        return max(choices, key=lambda each: (len(each.name.lstrip("0")), each.name.lstrip("0")))
    return None


def _read(choices: Sequence[exp.Expr], shared: pa.DataType) -> str | None:
    """The list, read from one text; None if it is made in another way."""
    texts = [each.name for each in choices]
    if is_numeric(shared):
        return f"CAST('[{','.join(texts)}]' AS {duckdb_type(shared)}[])"
    sign = next((s for s in _SEPARATORS if not any(s in text for text in texts)), None)
    if shared != STRING or sign is None:
        return None
    return f"string_split({quoted_text(sign.join(texts))}, {quoted_text(sign)})"
