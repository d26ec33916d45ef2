"""Hints that are nonsense: answers must not depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from sqlglot import exp

from tests.checking.plans import Inputs
from tidemill.engine import Engine
from tidemill.sql import HintCall, QueryStatement, Tidemill, parse

_NUMBERS = (1e-9, 0.01, 0.5, 1.0, 7.0, 1e4, 1e12)
_SHARES = (0.0, 1e-9, 0.5, 1.0)
_COLUMNS = ("k", "v", "f", "s")


def tell_nonsense(engine: Engine, inputs: Inputs, random: Random) -> None:
    """Tell an engine random things about the sources of random queries."""
    for name in inputs.streams:
        distinct = {column: random.choice(_NUMBERS) for column in random.sample(_COLUMNS, 2)}
        engine.hint(name, rate=random.choice(_NUMBERS), distinct=distinct)
    for name in inputs.relations:
        engine.hint(name, rows=random.choice(_NUMBERS))
    names = [*inputs.streams, *inputs.relations]
    equal = [f"{a}.k = {b}.k" for a in names for b in names if a != b]
    shares = {text: random.choice(_SHARES) for text in [*equal, f"{names[0]}.k > 1"]}
    engine.hint(selectivity=shares)


def hinted(script: str, random: Random) -> str:
    """A script whose last query has random hints about its FROM.

    >>> hinted("SELECT b.k FROM a, b", Random(3))
    'SELECT /*+ ORDER(b, a), EARLY(b) */ b.k FROM a CROSS JOIN b'
    """
    *before, last = parse(script)
    assert isinstance(last, QueryStatement)
    select = last.tree.find(exp.Select)
    if select is not None and (calls := list(_calls(select, random))):
        select.set("hint", exp.Hint(expressions=calls))
        last = replace(last, sql=last.tree.sql(dialect=Tidemill))
    return ";\n".join(statement.sql for statement in (*before, last))


def _calls(select: exp.Select, random: Random) -> Iterator[HintCall]:
    entries = [each.this for each in (select.args["from_"], *(select.args.get("joins") or []))]
    names = [each.alias_or_name for each in entries if each.alias_or_name]
    if len(names) > 1 and random.random() < 0.7:
        yield _call("ORDER", random.sample(names, random.randint(2, len(names))))
    if random.random() < 0.3 or not names:
        yield _call("LATE", [])
    elif random.random() < 0.7:
        yield _call("EARLY", random.sample(names, random.randint(1, len(names))))


def _call(kind: str, names: list[str]) -> HintCall:
    return HintCall(kind=kind, expressions=[exp.to_identifier(name) for name in names])
