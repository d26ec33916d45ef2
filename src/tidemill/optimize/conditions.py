"""Conditions under names that outlive a query: `bid.price > 10`, whatever alias `bid` has.

Plans print conditions with aliases. What is learnt about a condition in one query serves others
with other aliases, so it is kept under the names of the sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, product

import pyarrow as pa
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from tidemill.algebra.nodes import Scan
from tidemill.algebra.origin import origin_of
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column_node, rewrite
from tidemill.long_conditions import flatten_conditions, joined

_MOST_TEXTS = 64
"""Of one condition; aliases and sides of equations can be combined in many ways."""


def canonical(condition: Scalar, plan: Plan) -> str | None:
    """A condition on the rows of a plan under the names of its sources; None if it has none.

    >>> from tidemill.algebra import Schema, column
    >>> scan = Scan("bid", "b", Schema.of(price=pa.int64()))
    >>> test = exp.GT(this=column("b.price", pa.int64()).node, expression=exp.Literal.number(10))
    >>> canonical(Scalar(test, pa.bool_()), scan)
    'bid.price > 10'
    """
    names: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for name in condition.columns:
        if (origin := origin_of(plan, name)) is None:
            return None
        # In a stream that is joined with itself, either row could be meant.
        if aliases.setdefault(origin[0], name.split(".")[0]) != name.split(".")[0]:
            return None
        names[name] = ".".join(origin)
    return str(condition.rename(names)) if names else None


def parsed(text: str) -> exp.Expr | None:
    """The tree of a condition; None if it is not one.

    >>> [column.table for column in parsed("bid.item = ask.item").find_all(exp.Column)]
    ['bid', 'ask']
    """
    try:
        return flatten_conditions(parse_one(text, dialect="spark"))
    except (SqlglotError, RecursionError):
        return None


def localized(shares: Mapping[str, float], scans: Iterable[Scan]) -> dict[str, float]:
    """What is known about conditions, as plans over these scans print them.

    >>> scan = Scan("bid", "b", Scan("bid", "b", ()).columns)
    >>> localized({"bid.price > 10": 0.2, "ask.price > 10": 0.3}, [scan])
    {'b.price > 10': 0.2}
    """
    aliases: dict[str, tuple[str, ...]] = {}
    for scan in scans:
        known = aliases.get(scan.source, ())
        aliases[scan.source] = known if scan.alias in known else (*known, scan.alias)
    found: dict[str, float] = {}
    for text, share in shares.items():
        sources = sources_of(text)
        if sources <= aliases.keys():
            choices = [[(source, alias) for alias in aliases[source]] for source in sorted(sources)]
            for chosen in islice(product(*choices), _MOST_TEXTS):
                found.update(dict.fromkeys(_texts(text, chosen), share))
    return found


@lru_cache(maxsize=4096)
def sources_of(text: str) -> frozenset[str]:
    """The sources that a condition is about; one of no name if it cannot be read."""
    tree = parsed(text)
    columns = () if tree is None else tree.find_all(exp.Column)
    return frozenset(column.table for column in columns) or frozenset({""})


@lru_cache(maxsize=4096)
def _texts(text: str, aliases: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The condition with aliases, and every side of an equation on the left."""
    tree, places = parsed(text), dict(aliases)
    assert tree is not None

    def place(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return column_node(f"{places[node.table]}.{node.name}")
        return node

    turned = islice(_turned(rewrite(tree, place)), _MOST_TEXTS)
    return tuple(str(Scalar(each, pa.bool_())) for each in turned)


def _turned(tree: exp.Expr) -> Iterator[exp.Expr]:
    if not isinstance(tree, exp.And):
        yield from _sides(tree)
        return
    terms = [list(_sides(term)) for term in tree.flatten(unnest=False)]
    for chosen in product(*terms):
        yield joined(exp.And, [term.copy() for term in chosen])


def _sides(term: exp.Expr) -> Iterator[exp.Expr]:
    yield term
    if isinstance(term, exp.EQ | exp.NullSafeEQ):
        yield type(term)(this=term.right.copy(), expression=term.left.copy())
