"""Values for the parameters of a statement: `:name`, and `?` in their order.

They become parts of the syntax tree, never of the text that is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.tokens import Token

from tidemill.errors import SqlSyntaxError, nearest
from tidemill.sql.base import syntax_error
from tidemill.sql.dialect import Tidemill

__all__ = ["Parameters", "literal", "literal_text"]

_Part = tuple[int, int, str]
"""Where a part of a text begins and ends, and what comes in its place."""

_TYPES = "None, bool, int, float, Decimal, str, date, datetime, or a list of these"


@dataclass
class Parameters:
    """What is given for the parameters of a script."""

    named: Mapping[str, Any] = field(default_factory=dict)
    placed: Sequence[Any] = ()
    _used: set[str] = field(default_factory=set)
    _count: int = 0

    def filled(self, tree: exp.Expr, sql: str, tokens: Sequence[Token]) -> list[_Part]:
        """Put values into a tree; which parts of the text they stand for, and as what."""
        found = sorted(tree.find_all(exp.Placeholder), key=lambda node: int(node.meta["start"]))
        # Between `:` and its name there may be blanks and comments.
        ends = {one.start: other.end + 1 for one, other in pairwise(tokens) if one.text == ":"}
        return [self._fill(node, sql, ends) for node in found]

    def _fill(self, node: exp.Placeholder, sql: str, ends: Mapping[int, int]) -> _Part:
        start = int(node.meta["start"])
        end = ends.get(start, start + 1)
        try:
            text = literal_text(self._value(node))
        except ValueError as error:
            help = "pass it by name: sql(text, name=value); for `?`, by place: sql(text, value)"
            raise syntax_error(str(error), sql, start, end, help) from None
        value = _read(text)
        for part in value.walk():
            part.meta.update(node.meta)
        node.replace(value)
        return start, end, text

    def _value(self, node: exp.Placeholder) -> Any:
        name = node.args.get("this")
        if name is None:
            self._count += 1
            if self._count > len(self.placed):
                raise ValueError(f"there is no value for the parameter number {self._count}")
            return self.placed[self._count - 1]
        self._used.add(name)
        if name not in self.named:
            raise ValueError(f"there is no value for the parameter `:{name}`")
        return self.named[name]

    def refuse_unused(self) -> None:
        """Refuse values that no parameter takes: a name may be misspelt."""
        for name in self.named:
            if name not in self._used:
                near = nearest(name, self._used)
                help = f"did you mean `:{near}`?" if near else f"write :{name} where it belongs"
                raise SqlSyntaxError(f"there is no parameter `:{name}` in the text", help=help)
        if len(self.placed) > self._count:
            message = f"{len(self.placed)} values are given by place, for {self._count} `?`"
            raise SqlSyntaxError(message, help="give one value for every `?`")


def literal(value: Any) -> exp.Expr:
    """The syntax tree of a value, with its type.

    >>> literal("it's").sql(), literal(2.5).sql()
    ("'it''s'", "CAST('2.5' AS DOUBLE)")
    """
    return _read(literal_text(value))


def _read(text: str) -> exp.Expr:
    value: exp.Expr = sqlglot.parse_one(f"SELECT {text}", dialect=Tidemill).expressions[0]
    return value


def literal_text(value: Any) -> str:
    """A value as SQL writes it, with its type.

    >>> literal_text(7), literal_text("it's"), literal_text(Decimal("1.50")), literal_text(None)
    ('7', "'it\\\\'s'", "CAST('1.50' AS DECIMAL(3, 2))", 'NULL')
    """
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return exp.Literal.string(value).sql(dialect=Tidemill)
    if isinstance(value, list | tuple):
        return f"ARRAY({', '.join(map(literal_text, value))})"
    return "CAST('{}' AS {})".format(*_typed(value))


def _typed(value: Any) -> tuple[str, str]:
    match value:
        case float():
            return repr(value), "DOUBLE"
        case Decimal() if value.is_finite():
            return f"{value:f}", _decimal_type(value)
        case datetime():
            plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return plain.isoformat(" "), "TIMESTAMP"
        case date():
            return value.isoformat(), "DATE"
    raise ValueError(f"a parameter cannot be {value!r}: pass {_TYPES}")


def _decimal_type(value: Decimal) -> str:
    exponent = int(value.as_tuple().exponent)
    scale = max(0, -exponent)
    digits = max(len(value.as_tuple().digits) + max(0, exponent), scale)
    return f"DECIMAL({digits}, {scale})"


def spliced(text: str, start: int, parts: Sequence[_Part]) -> str:
    """A text that stands at `start`, with other parts in the place of some.

    What touches a part stays apart from it: `--` would begin a comment.

    >>> spliced("a -:x AND:y", 0, [(3, 5, "-5"), (9, 11, "TRUE")])
    'a - -5 AND TRUE'
    """
    return "".join(_pieces(text, start, parts))


def _pieces(text: str, start: int, parts: Sequence[_Part]) -> Iterator[str]:
    done = 0
    for begin, end, value in parts:
        if start <= begin < start + len(text):
            before, behind = text[done : begin - start], text[end - start :]
            # A cast comes before the sign.
            is_cast = value.startswith("-") and behind.lstrip().startswith("::")
            new = f"({value})" if is_cast else value
            yield f"{before}{_gap(before[-1:], new)}{new}{_gap(new, behind)}"
            done = end - start
    yield text[done:]


def _gap(left: str, right: str) -> str:
    """A blank between two texts that would be read as one word, or as a comment."""
    ends = f"{left[-1:]}{right[:1]}"
    is_word = len(ends) == 2 and all(each.isalnum() or each == "_" for each in ends)
    return " " if is_word or ends == "--" else ""
