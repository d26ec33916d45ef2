"""The queries with larger windows."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from benchmarks.auction.worker import Request
from tidemill import Engine, Query
from tidemill.nexmark.queries import QUERIES
from tidemill.sql import Duration, RowCount, StreamWindow, Tidemill, parse

_SIZES = ("size", "min", "max")


def asked_query(engine: Engine, asked: Request) -> Query:
    """The query of a request, over its data, with windows so much larger."""
    if asked.window == 1:
        return QUERIES[asked.query].on(engine, asked.data)
    query = engine.sql(scale_windows(QUERIES[asked.query].script(asked.data), asked.window))
    assert query is not None, "every script ends with a query"
    return query


def scale_windows(script: str, factor: int) -> str:
    """Multiply the sizes of all windows, in time or in rows; slides stay as they are.

    >>> scale_windows("SELECT a FROM s WINDOW(RANGE 5 HOURS SLIDE 1 HOUR)", 10)
    'SELECT a FROM s WINDOW(RANGE 50 HOURS SLIDE 1 HOUR)'
    """
    trees = [statement.tree.copy() for statement in parse(script)]
    for tree in trees:
        for window in tree.find_all(StreamWindow):
            for size in map(window.args.get, _SIZES):
                if isinstance(size, (Duration, RowCount)):
                    size.set("this", exp.Literal.number(f"{Decimal(size.value) * factor:f}"))
    return ";\n".join(tree.sql(dialect=Tidemill) for tree in trees)
