"""Parsing of sizes: lengths of time, with or without unit, and numbers of rows."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.errors import nearest
from tidemill.sql.base import BaseParser
from tidemill.sql.nodes import UNIT_MICROS, Duration, RowCount

__all__ = ["DurationParser", "unit_name"]

_LARGEST: Final = 2**63 - 1
_INTERVAL: Final = re.compile(r"\s*(-?[\d.]+)\s*([A-Za-z]*)\s*\Z")
_WORD: Final = re.compile(r"[A-Za-z]+")
_NOT_UNITS: Final = ("SLIDE", "DELAY", "MAX", "FINEST", "AT", "AHEAD")
_UNITS: Final = f"units: {', '.join(UNIT_MICROS)}"


def unit_name(text: str) -> str | None:
    """Find the unit that a word names, in singular or plural.

    >>> unit_name("minutes")
    'MINUTE'
    """
    name = text.upper()
    return next((u for u in (name, name.removesuffix("S")) if u in UNIT_MICROS), None)


def _length(size: Duration) -> int:
    return size.micros if size.unit else size.ticks


class DurationParser(BaseParser):
    """The sizes of windows, slides, granules and slack."""

    def _parse_row_count(self) -> RowCount:
        token = self._curr
        if not self._match(TokenType.NUMBER) or not token.text.isdecimal():
            self._fail_rows(token, self._next if token.token_type == TokenType.DASH else None)
        if not 1 <= int(token.text) <= _LARGEST:
            self._fail_rows(token)
        if self._curr and unit_name(self._curr.text):
            help = f"write ROWS {token.text}, or RANGE {token.text} {self._curr.text} for time"
            self.fail("ROWS takes a whole number of rows, without a unit", help=help)
        literal = exp.Literal.number(token.text).update_positions(token)
        return self.expression(RowCount(this=literal), token)

    def _fail_rows(self, token: Token, last: Token | None = None) -> NoReturn:
        help = "write for example ROWS 100; for a window of time write RANGE 10 MINUTES"
        self.fail("ROWS takes a whole number of rows, at least 1", token, help, last)

    def _parse_duration(self, clause: str, zero: bool = False) -> Duration:
        interval = self._match(TokenType.INTERVAL)
        token = self._curr
        number, unit = self._parse_amount(clause, interval)
        if number < 0 or (number == 0 and not zero):
            self.fail(f"{clause} must be greater than zero", token, last=self._prev)
        literal = exp.Literal.number(f"{number:f}").update_positions(token)
        duration = Duration(this=literal, unit=unit or self._parse_unit())
        self._check_duration(duration, clause, token)
        return self.expression(duration, token)

    def _parse_amount(self, clause: str, interval: bool) -> tuple[Decimal, exp.Var | None]:
        token, unit = self._curr, None
        sign = "-" if self._match(TokenType.DASH) else ""
        text = self._curr.text if self._curr else ""
        if interval and self._match(TokenType.STRING):
            match = _INTERVAL.match(text)
            text = match[1] if match else ""
            unit = self._unit(match[2], token) if match and match[2] else None
        elif not self._match(TokenType.NUMBER):
            text = ""
        try:
            return Decimal(sign + text), unit
        except InvalidOperation:
            self._fail_amount(clause, token)

    def _fail_amount(self, clause: str, token: Token) -> NoReturn:
        shown = f"`{self._find_sql(token, token)}`" if token else "the end of the statement"
        example = "GRANULARITY(10 MINUTES)" if clause == "GRANULARITY" else f"{clause} 10 MINUTES"
        help = f"write for example {example}"
        self.fail(f"{clause} takes a length of time, found {shown}", token, help)

    def _parse_unit(self) -> exp.Var | None:
        # Spark reads the S of `10S` as a cast; here it can only be a unit.
        self._match(TokenType.DCOLON)
        token = self._curr
        if not token or not _WORD.fullmatch(token.text) or self._at_next_clause():
            return None
        self._advance()
        return self._unit(token.text, token)

    def _at_next_clause(self) -> bool:
        # A misspelt SLIDE is followed by its size, a misspelt unit is not; reserved words end it.
        is_word = self._curr.token_type in self.ID_VAR_TOKENS
        followed = self._next.token_type in (TokenType.NUMBER, TokenType.INTERVAL)
        return self._curr.text.upper() in _NOT_UNITS or followed or not is_word

    def _unit(self, text: str, token: Token) -> exp.Var:
        name = unit_name(text)
        if name is None:
            near = nearest(text, [*UNIT_MICROS, *(f"{unit}S" for unit in UNIT_MICROS)])
            help = f"did you mean `{near}`? {_UNITS}" if near else _UNITS
            if text.upper().rstrip("S") in ("MONTH", "YEAR", "QUARTER"):
                help = f"{text.upper()} has no fixed length; {_UNITS}"
            self.fail(f"unknown time unit `{text}`", token, help)
        return exp.var(name).update_positions(token)

    def _check_duration(self, size: Duration, clause: str, token: Token) -> None:
        amount = size.value * (UNIT_MICROS[size.unit] if size.unit else 1)
        if amount > _LARGEST:
            self.fail(f"{clause} is too large", token, "for a window without end: RANGE UNBOUNDED")
        if amount != int(amount):
            finest = "a whole number of microseconds" if size.unit else "a whole number of ticks"
            help = None if size.unit else f"add a unit, for example {clause} {size.value} SECONDS"
            self.fail(f"{clause} must be {finest}", token, help)

    def _check_scale(self, first: exp.Expr, second: exp.Expr, token: Token) -> None:
        if not isinstance(first, Duration) or not isinstance(second, Duration):
            return
        if (first.unit is None) != (second.unit is None):
            help = "use units for timestamps, plain numbers for integer time"
            self.fail("one size has a time unit and the other has none", token, help)

    def _check_order(
        self, low: Duration | RowCount, high: Duration | RowCount, names: str, token: Token
    ) -> None:
        self._check_scale(low, high, token)
        if isinstance(low, Duration) and isinstance(high, Duration):
            ordered = _length(low) <= _length(high)
        else:
            ordered = low.value <= high.value
        if not ordered:
            self.fail(names, token, "swap the two sizes", self._prev)
