"""Functions that are short for an expression of others."""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlglot import exp, parse_one

from tidemill.algebra.scalar import rewrite
from tidemill.sql import Tidemill

_EPOCH: Final = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"

SPELLED: Final[dict[str, dict[int, str]]] = {
    "nullifzero": {1: "NULLIF(_0, 0)"},
    "zeroifnull": {1: "COALESCE(_0, 0)"},
    "isnull": {1: "_0 IS NULL"},
    "isnotnull": {1: "_0 IS NOT NULL"},
    "bigint": {1: "CAST(_0 AS BIGINT)"},
    "smallint": {1: "CAST(_0 AS SMALLINT)"},
    "tinyint": {1: "CAST(_0 AS TINYINT)"},
    "decimal": {1: "CAST(_0 AS DECIMAL(10, 0))"},
    "binary": {1: "CAST(_0 AS BINARY)"},
    "e": {0: "2.718281828459045D"},
    "try_mod": {2: "CASE WHEN _1 <> 0 THEN _0 % _1 END"},
    "btrim": {1: "TRIM(_0)", 2: "TRIM(BOTH _1 FROM _0)"},
    "octet_length": {1: "CAST(bit_length(_0) DIV 8 AS INT)"},
    "find_in_set": {
        2: "CASE WHEN _0 IS NULL OR _1 IS NULL THEN NULL WHEN instr(_0, ',') > 0 THEN 0 "
        "ELSE CAST(array_position(split(_1, ','), _0) AS INT) END"
    },
    "regexp": {2: "regexp_like(_0, _1)"},
    "weekday": {1: "(dayofweek(_0) + 5) % 7"},
    "make_date": {3: "CAST(make_timestamp(_0, _1, _2, 0, 0, 0) AS DATE)"},
    "make_timestamp_ntz": {6: "make_timestamp(_0, _1, _2, _3, _4, _5)"},
    "timestamp_seconds": {1: f"timestampadd(SECOND, _0, {_EPOCH})"},
    "timestamp_millis": {1: f"timestampadd(MILLISECOND, _0, {_EPOCH})"},
    "timestamp_micros": {1: f"timestampadd(MICROSECOND, _0, {_EPOCH})"},
    "to_timestamp_ntz": {1: "to_timestamp(_0)", 2: "to_timestamp(_0, _1)"},
    "try_to_timestamp": {1: "TRY_CAST(_0 AS TIMESTAMP)"},
    "try_to_date": {1: "TRY_CAST(_0 AS DATE)"},
    "cardinality": {1: "size(_0)"},
    "get": {2: "CASE WHEN _1 BETWEEN 0 AND 2147483646 THEN try_element_at(_0, _1 + 1) END"},
}
"""By name and number of arguments, which are `_0`, `_1` and so on."""


def spelled_call(node: exp.Anonymous) -> exp.Expr | None:
    """What a call is short for; None if it is not, or has other arguments.

    >>> spelled_call(parse_one("weekday(d)", read="spark")).sql("spark")
    '(DAYOFWEEK(d) + 5) % 7'
    """
    text = SPELLED.get(node.name.lower(), {}).get(len(node.expressions))
    if text is None:
        return None
    given = {f"_{place}": part for place, part in enumerate(node.expressions)}

    def put(part: exp.Expr) -> exp.Expr:
        known = isinstance(part, exp.Column) and part.name in given
        return _closed(given[part.name]) if known else part

    return rewrite(_template(text), put)


def _closed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy()) if isinstance(node, exp.Binary) else node.copy()


@cache
def _template(text: str) -> exp.Expr:
    # In the dialect of queries: Spark's own turns every cast into one that never fails.
    node: exp.Expr = parse_one(f"SELECT {text}", read=Tidemill).expressions[0]
    return node
