"""Parsing of hints: what the user knows about streams, in `/*+ ... */` behind SELECT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from tidemill.errors import nearest
from tidemill.sql.base import syntax_error
from tidemill.sql.nodes import HintCall
from tidemill.sql.windows import WindowParser

__all__ = ["HintParser", "open_hints"]

_OPEN, _CLOSE = "/*+", "*/"
_SHAPES: Final = {
    "RATE": "RATE(bid, 1000)",
    "ROWS": "ROWS(category, 500)",
    "DISTINCT": "DISTINCT(bid.item, 500)",
    "SELECTIVITY": "SELECTIVITY(price > 10, 0.2)",
    "ORDER": "ORDER(bid, ask)",
    "EARLY": "EARLY(bid)",
    "LATE": "LATE",
    "RANK": "RANK(eaa)",
}


_STRATEGIES: Final = ("EAA", "SLA", "APPROXIMATE", "PLAIN")


def open_hints(
    sql: str, tokens: Sequence[Token], tokenize: Callable[[str], list[Token]]
) -> Iterator[Token]:
    """Tokens with those inside of hints in the place of each hint, which sqlglot keeps as one."""
    for token in tokens:
        _refuse_lost_hint(sql, token)
        if token.token_type != TokenType.HINT:
            yield token
            continue
        start, end = token.start + len(_OPEN), token.end + 1 - len(_CLOSE)
        yield _moved(token, TokenType.HINT, _OPEN, token.start)
        for inner in _inside(sql, start, end, tokenize):
            yield _moved(inner, inner.token_type, inner.text, start + inner.start, inner)
        yield _moved(token, TokenType.HINT, _CLOSE, end)


def _inside(
    sql: str, start: int, end: int, tokenize: Callable[[str], list[Token]]
) -> Iterator[Token]:
    try:
        tokens = tokenize(sql[start:end])
    except TokenError:
        message, help = "the hint cannot be read", "close its quotation marks"
        raise syntax_error(message, sql, start - len(_OPEN), end + len(_CLOSE), help) from None
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            # It would end the statement.
            place = start + token.start
            raise syntax_error("unexpected `;` in a hint", sql, place, place + 1, "remove it")
        yield token


def _moved(
    token: Token, kind: TokenType, text: str, start: int, spanning: Token | None = None
) -> Token:
    width = len(text) if spanning is None else spanning.end + 1 - spanning.start
    return Token(kind, text, token.line, token.col, start, start + width - 1)


def _refuse_lost_hint(sql: str, token: Token) -> None:
    """Anywhere else, a hint would pass as a comment, and do nothing."""
    for comment in token.comments if token.token_type != TokenType.HINT else ():
        written = f"{_OPEN}{comment}{_CLOSE}"
        if comment.strip()[:1].isalpha() and (start := sql.find(written)) >= 0:
            help = "write SELECT /*+ ... */ a, b FROM ...; a comment begins with /* and a space"
            message = "a hint stands directly behind SELECT"
            raise syntax_error(message, sql, start, start + len(written), help)


# Of Spark; each prescribes how one of its joins is computed.
_JOIN_HINTS = ("BROADCAST", "MERGE", "SHUFFLE_HASH", "SHUFFLE_REPLICATE_NL", "REPARTITION")


class HintParser(WindowParser):
    """Hints of a SELECT."""

    def _parse_hint(self) -> exp.Hint | None:
        if not self._match(TokenType.HINT):
            return None
        start, calls = self._prev, list[exp.Expr]()
        while not self._match(TokenType.HINT):
            calls.append(self._parse_hint_call())
            if self._match(TokenType.COMMA) and self._match(TokenType.HINT, advance=False):
                self.fail("unexpected comma before `*/`", self._prev, "remove the comma")
        if not calls:
            help = f"hints: {', '.join(_SHAPES.values())}"
            self.fail("the hint is empty", start, help, self._prev)
        return self.expression(exp.Hint(expressions=calls))

    def _parse_hint_call(self) -> HintCall:
        token = self._curr
        kind = token.text.upper()
        if kind not in _SHAPES:
            near = nearest(kind, _SHAPES)
            guess = f"did you mean `{near}`? " if near else ""
            guess = "leave it out: joins find their own way; " if kind in _JOIN_HINTS else guess
            self.fail(f"unknown hint {self.found()}", help=f"{guess}hints: {', '.join(_SHAPES)}")
        self._advance()
        call = HintCall(kind=kind)
        if kind != "LATE":
            self._hint_mark(TokenType.L_PAREN, "(", kind)
            self._parse_hint_arguments(call, kind)
            self._hint_mark(TokenType.R_PAREN, ")", kind)
        elif self._match(TokenType.L_PAREN, advance=False):
            self.fail("LATE takes nothing", help="write LATE, without parentheses")
        node = self.expression(call, token)
        node.meta["end"] = self._prev.end
        return node

    def _parse_hint_arguments(self, call: HintCall, kind: str) -> None:
        if kind == "RANK":
            call.set("expressions", [self._parse_strategy()])
            return
        if kind in ("ORDER", "EARLY"):
            call.set("expressions", self._parse_hint_names(kind))
            return
        call.set("expressions", [self._parse_hint_subject(kind)])
        self._hint_mark(TokenType.COMMA, ",", kind)
        call.set("value", self._parse_hint_number(kind))
        if kind == "RATE" and self._match_text_seq("PER"):
            call.set("unit", self._parse_unit() or self._fail_hint(kind, "is per unit of time"))

    def _parse_hint_subject(self, kind: str) -> exp.Expr:
        if kind == "SELECTIVITY":
            return self._parse_disjunction() or self._fail_hint(kind, "takes a condition first")
        if kind != "DISTINCT":
            return self._parse_hint_name(kind)
        is_value = self._curr.token_type not in self.ID_VAR_TOKENS | {TokenType.IDENTIFIER}
        column = None if is_value else self._parse_column()
        return column or self._fail_hint(kind, "takes a column first")

    def _parse_hint_names(self, kind: str) -> list[exp.Expr]:
        names = self._parse_csv(lambda: self._parse_hint_name(kind))
        if kind == "ORDER" and len(names) < 2:
            self._fail_hint(kind, "takes at least two streams")
        return list(names)

    def _parse_hint_name(self, kind: str) -> exp.Identifier:
        token = self._curr
        name = self._parse_id_var(any_token=False)
        if not isinstance(name, exp.Identifier):
            self._fail_hint(kind, "takes streams by their names or aliases")
        return name.update_positions(token)

    def _parse_strategy(self) -> exp.Expr:
        token = self._curr
        if token.text.upper() not in _STRATEGIES:
            self._fail_hint("RANK", f"takes one of {', '.join(_STRATEGIES)}")
        self._advance()
        return exp.to_identifier(token.text.lower()).update_positions(token)

    def _parse_hint_number(self, kind: str) -> exp.Expr:
        token = self._curr
        negative = self._match(TokenType.DASH)
        number = self._curr
        try:
            value = Decimal(number.text if self._match(TokenType.NUMBER) else "")
        except InvalidOperation:
            self._fail_hint(kind, "takes a number")
        if (negative and value) or (kind != "SELECTIVITY" and not value):
            self.fail(f"{kind} must be greater than zero", token, None, number)
        if kind == "SELECTIVITY" and value > 1:
            self.fail("SELECTIVITY is a share between 0 and 1", number)
        return exp.Literal.number(number.text).update_positions(number)

    def _hint_mark(self, kind: TokenType, mark: str, hint: str) -> None:
        if not self._match(kind):
            self._fail_hint(hint, f"lacks its `{mark}`")

    def _fail_hint(self, kind: str, rule: str) -> NoReturn:
        help = f"write for example /*+ {_SHAPES[kind]} */"
        self.fail(f"{kind} {rule}, found {self.found()}", help=help)
