"""The texts of settings, read by the parser of the language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from sqlglot import exp

from tidemill.algebra.scalar import Scalar
from tidemill.analyze.trees import QUERIES, rewrite
from tidemill.errors import PlanError, SqlSyntaxError, TidemillError, UnsupportedError
from tidemill.sql import Duration, Tidemill, Unbounded, error_at, parse_one
from tidemill.sql.building import quoted

_Found = TypeVar("_Found")

_LENGTH: Final = re.compile(r"[\w\s.']+")
_NO_SUBQUERY: Final = "build it from operators: a join, a semi-join or an anti-join has it as input"
_DEEPEST: Final = 100
_ORDINARY: Final = re.compile(r"[A-Za-z_]\w*")


def expressions(text: str) -> list[exp.Expr]:
    """The expressions of a text, separated by commas; each may have a name, as in `a + 1 AS b`.

    >>> [each.sql() for each in expressions("item, price * 2 AS doubled")]
    ['item', 'price * 2 AS doubled']
    """
    return _parsed(text, "SELECT", "FROM x", lambda tree: list(tree.expressions), ())


def expression(text: str) -> exp.Expr:
    """The one expression of a text."""
    found = expressions(text)
    if len(found) != 1 or isinstance(found[0], exp.Alias):
        raise PlanError("this is not one expression", help="write for example price > 10")
    return found[0]


def order_terms(text: str) -> list[exp.Ordered]:
    """The parts of an order, as in `price DESC, item`."""
    return _parsed(
        text,
        "SELECT 1 FROM x ORDER BY",
        "LIMIT 1",
        lambda tree: list(tree.args["order"].expressions),
        ("order", "limit"),
    )


def length(text: str) -> Duration | Unbounded:
    """A length of time, as in `5 MINUTES`, or 5 where time is counted in whole numbers.

    >>> length("90 seconds").micros
    90000000
    """
    if not _LENGTH.fullmatch(text):
        help = "write for example 5 MINUTES, or 5 where time is a number"
        raise PlanError(f"`{text}` is not a duration", help=help)
    found: Duration | Unbounded = _parsed(
        text,
        "SELECT 1 FROM x WINDOW(RANGE",
        ")",
        lambda tree: tree.args["from_"].this.args["stream_window"].args["size"],
        (),
    )
    return found


def _parsed(
    text: str,
    before: str,
    after: str,
    part: Callable[[exp.Expr], _Found],
    clauses: Sequence[str],
) -> _Found:
    """Read a text in its place in a query; errors point into the text alone."""
    try:
        # The text has lines of its own, so that places in it are easily told from the rest.
        tree = parse_one(f"{before}\n{text}\n{after}").tree
        if not _is_plain(tree, {"expressions", "from_", *clauses}):
            raise SqlSyntaxError("this is more than an expression", help="remove what follows it")
        _refuse_depth(tree)
        _refuse_subqueries(tree)
        return part(tree)
    except TidemillError as error:
        raise _moved(error, text) from None


def _is_plain(tree: object, clauses: set[str]) -> bool:
    if not isinstance(tree, exp.Select):
        return False
    used = {name for name, value in tree.args.items() if value}
    table = tree.args["from_"].this if "from_" in used else None
    return used <= clauses and isinstance(table, exp.Table) and table.name == "x"


def _refuse_depth(tree: exp.Expr) -> None:
    """Types are found part by part: deep expressions would take very long."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _DEEPEST:
            raise SqlSyntaxError("the expression is nested too deeply", help="split it")
        waiting += [(part, depth + 1) for part in node.iter_expressions()]


def _refuse_subqueries(tree: exp.Expr) -> None:
    for part in tree.walk():
        if part is not tree and isinstance(part, QUERIES):
            message = "a subquery cannot stand in a setting"
            raise error_at(UnsupportedError, message, part, _NO_SUBQUERY)


def _moved(error: TidemillError, text: str) -> TidemillError:
    """The error with its place in the text."""
    error.sql = text
    lines = text.split("\n")
    if error.line is None or error.line < 2:
        error.line = error.column = error.length = None
    elif error.line > len(lines) + 1:
        # What was expected is missing at the end of the text.
        error.message = re.sub(r"(?<=unexpected )`.*`", "end of the text", error.message)
        error.message = re.sub(r"`(FROM|LIMIT|\))`", "its end", error.message)
        error.help = error.help or "write the rest of it"
        error.line, error.column, error.length = len(lines), max(1, len(lines[-1])), 1
    else:
        error.line -= 1
    return error


def place_in(error: TidemillError, text: str) -> TidemillError:
    """An error found while an expression of a setting was checked, with its place in it."""
    return _moved(error, text)


def spelled(node: exp.Expr) -> str:
    """An expression over the columns of a plan, as a user would write it.

    >>> from tidemill.algebra.scalar import column_node
    >>> spelled(exp.GT(this=column_node("b.price"), expression=exp.Literal.number(10)))
    'b.price > 10'
    """
    return rewrite(node, _dotted).sql(dialect=Tidemill)


def scalar_text(scalar: Scalar, name: str | None = None) -> str:
    """An expression of a plan as a text, with the name of the column that it fills."""
    text = spelled(scalar.node)
    shown = column_text(name) if name else ""
    if name is None or (scalar.is_column and short(scalar.node.name) == name):
        return text
    return f"{text} AS {shown if '.' not in shown else quoted(name)}"


def column_text(name: str) -> str:
    """A column of a plan as a user would write it.

    >>> column_text("b.price"), column_text("b.unit price"), column_text("#id")
    ('b.price', 'b.`unit price`', '`#id`')
    """
    return ".".join(part if _is_ordinary(part) else quoted(part) for part in parts_of(name))


def identifier(name: str) -> exp.Identifier:
    """A name in SQL, quoted if need be."""
    found: exp.Identifier = exp.to_identifier(name, quoted=not _is_ordinary(name))
    return found


def parts_of(name: str) -> list[str]:
    """The alias and the column of a plan column; one part if it has no alias."""
    alias, dot, rest = name.partition(".")
    return [alias, rest] if dot and alias and rest and not alias.startswith("#") else [name]


def short(name: str) -> str:
    """The name of a plan column without its alias."""
    return parts_of(name)[-1]


def _is_ordinary(part: str) -> bool:
    return bool(_ORDINARY.fullmatch(part)) and part.upper() not in Tidemill.Tokenizer.KEYWORDS


def _dotted(node: exp.Expr) -> exp.Expr | None:
    if not isinstance(node, exp.Column):
        return None
    parts = [identifier(part) for part in parts_of(node.name)]
    return exp.Column(this=parts[-1], table=parts[0] if len(parts) > 1 else None)
