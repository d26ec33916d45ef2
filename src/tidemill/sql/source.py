"""Where a node of the syntax tree stands in the text that the user typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.errors import TidemillError

__all__ = ["Position", "Source", "attach_source", "error_at", "position_of"]

_META_KEY: Final = "tidemill_source"
_OPEN: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET})
_CLOSE: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET})

ErrorT = TypeVar("ErrorT", bound=TidemillError)


@dataclass(frozen=True)
class Position:
    """A place in the source: 1-based line and column, and the length of what stands there."""

    line: int
    column: int
    length: int = 1


class Source:
    """The whole text of a script with its tokens.

    >>> Source("SELECT a,\\n  b").position(12, 13)
    Position(line=2, column=3, length=1)
    """

    def __init__(self, text: str, tokens: Sequence[Token] = ()) -> None:
        self.text = text
        self.tokens = tuple(tokens)

    # Nodes refer to their source, and copies of nodes copy what they refer to: share it.
    def __copy__(self) -> Source:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Source:
        return self

    def position(self, start: int, end: int) -> Position:
        """Locate `text[start:end]`, cut at the end of its first line."""
        line_start = self.text.rfind("\n", 0, start) + 1
        line = self.text.count("\n", 0, line_start) + 1
        length = len(self.text[start:end].split("\n", 1)[0].rstrip())
        return Position(line, start - line_start + 1, max(1, length))

    def balanced(self, start: int, end: int) -> tuple[int, int]:
        """Widen a span until every parenthesis in it has its partner."""
        inside = [t for t in self.tokens if start <= t.start and t.end < end]
        opened, closed = _unmatched(inside)
        before = [t for t in self.tokens if t.end < start]
        after = [t for t in self.tokens if t.start >= end]
        start = _partner(reversed(before), closed, _OPEN, _CLOSE, start, "start")
        end = _partner(iter(after), opened, _CLOSE, _OPEN, end - 1, "end") + 1
        return start, end


def _unmatched(tokens: Sequence[Token]) -> tuple[int, int]:
    opened = closed = 0
    for token in tokens:
        if token.token_type in _OPEN:
            opened += 1
        elif token.token_type in _CLOSE:
            opened, closed = (opened - 1, closed) if opened else (0, closed + 1)
    return opened, closed


def _partner(
    tokens: Iterator[Token],
    missing: int,
    wanted: frozenset[TokenType],
    nested: frozenset[TokenType],
    offset: int,
    edge: str,
) -> int:
    for token in tokens if missing else ():
        missing += (token.token_type in nested) - (token.token_type in wanted)
        if not missing:
            return int(getattr(token, edge))
    return offset


def attach_source(tree: exp.Expr, source: Source) -> None:
    """Let every node that has offsets know the text that they point into."""
    for node in tree.walk():
        if "start" in node.meta:
            node.meta[_META_KEY] = source


def _spans(node: exp.Expr) -> Iterator[tuple[int, int, Source]]:
    for part in node.walk():
        source = part.meta.get(_META_KEY)
        if source is not None:
            yield part.meta["start"], part.meta["end"] + 1, source


def position_of(node: exp.Expr) -> Position | None:
    """Locate a node: from its first to its last part on the line where it begins.

    >>> from tidemill.sql.parse import parse
    >>> [statement] = parse("SELECT a,\\n  SUM(b + 1) FROM s WINDOW(RANGE 5 MINUTES)")
    >>> position_of(statement.tree.expressions[1])
    Position(line=2, column=3, length=10)
    """
    located = _locate(node)
    return located[1].position(*located[0]) if located else None


def _locate(node: exp.Expr) -> tuple[tuple[int, int], Source] | None:
    spans = list(_spans(node))
    if not spans:
        return None
    start, end, source = min(spans, key=lambda span: span[:2])
    newline = source.text.find("\n", start)
    limit = newline if newline >= 0 else len(source.text)
    end = max([end, *(e for s, e, _ in spans if s < limit and e <= limit)])
    return source.balanced(start, end), source


def error_at(
    cls: type[ErrorT], message: str, node: exp.Expr | None, help: str | None = None
) -> ErrorT:
    """Build an error that points at a node; a node without place points at its parents.

    >>> from tidemill.errors import PlanError
    >>> from tidemill.sql.parse import parse
    >>> [statement] = parse("SELECT prise FROM s")
    >>> print(error_at(PlanError, "unknown column `prise`", statement.tree.expressions[0]))
    error: unknown column `prise`
      line 1, column 8
        SELECT prise FROM s
               ^^^^^
    """
    while node is not None and (located := _locate(node)) is None:
        node = node.parent
    if node is None:
        return cls(message, help=help)
    assert located is not None
    place = located[1].position(*located[0])
    return cls(
        message,
        line=place.line,
        column=place.column,
        length=place.length,
        help=help,
        sql=located[1].text,
    )
