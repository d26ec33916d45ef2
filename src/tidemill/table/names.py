"""Names as syntax trees: quoted where SQL would read something else."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from tidemill.sql import STREAM_FUNCTIONS, Tidemill

__all__ = ["column_named", "identifier"]

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WORDS: Final = frozenset(
    {
        *(word for words in Tidemill.Tokenizer.KEYWORDS for word in words.split()),
        *STREAM_FUNCTIONS,
        *("GRANULARITY", "SHED", "OBJECTS", "TUMBLE", "HOP", "CUMULATE", "APPROXIMATE"),
    }
)


def identifier(name: str) -> exp.Identifier:
    """A name, in backquotes if it is none without them.

    >>> [identifier(name).sql(dialect=Tidemill) for name in ("price", "order", "unit price")]
    ['price', '`order`', '`unit price`']
    """
    is_plain = _PLAIN.match(name) and name.upper() not in _WORDS
    return exp.to_identifier(name, quoted=not is_plain)


def column_named(name: str) -> exp.Expr:
    """A column by its name, or by those of its table and itself: `b.price`; or all, with `*`."""
    *path, last = name.split(".")
    if last == "*" and not path:
        return exp.Star()
    end = exp.Star() if last == "*" else identifier(last)
    if not path:
        return exp.Column(this=end)
    table, *fields = map(identifier, [*path, last])
    if len(path) == 1:
        return exp.Column(this=end, table=table)
    return exp.Dot.build([exp.Column(this=fields[0], table=table), *fields[1:]])
