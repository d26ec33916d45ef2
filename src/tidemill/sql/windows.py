"""Parsing of WINDOW(...), CQL's [...] and GRANULARITY(...)."""

from __future__ import annotations

from typing import Final, NoReturn

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.errors import nearest
from tidemill.sql.durations import DurationParser, unit_name
from tidemill.sql.nodes import Duration, GranularityClause, RowCount, StreamWindow, Unbounded

__all__ = ["WindowParser"]

_KINDS: Final = ("RANGE", "ROWS", "SESSION", "NOW")
_PARTITIONED: Final = ("ROWS", "SESSION")
_SHAPES: Final = "RANGE 10 MINUTES, ROWS 100, PARTITION BY key ROWS 100, SESSION 10 MINUTES, NOW"
_SAME_ROWS: Final = "gives the same rows with or without partitions: remove PARTITION BY"


class WindowParser(DurationParser):
    """The clauses that follow a stream in FROM."""

    def _parse_stream_window(self) -> StreamWindow | None:
        start = self._curr
        if self._match_pair(TokenType.WINDOW, TokenType.L_PAREN):
            close, mark = TokenType.R_PAREN, ")"
        elif self._match(TokenType.L_BRACKET):
            close, mark = TokenType.R_BRACKET, "]"
        else:
            return None
        window = self._parse_window_body()
        self._close_clause(close, mark)
        return self.expression(window, start)

    def _close_clause(self, close: TokenType, mark: str) -> None:
        if self._match(close):
            return
        near = nearest(self._curr.text, ["SLIDE", "DELAY"]) if self._curr else None
        help = f"close the clause with `{mark}`"
        if near and near != self._curr.text.upper():
            help = f"did you mean `{near}`?"
        self.fail(f"expected `{mark}`, found {self.found()}", help=help)

    def _parse_window_body(self) -> StreamWindow:
        start = self._curr
        columns = self._parse_window_partition()
        kind = self._parse_window_kind(partitioned=bool(columns))
        if columns and kind not in _PARTITIONED:
            self._fail_partition(start, kind)
        window = StreamWindow(kind=kind, partition_by=columns)
        if kind != "NOW":
            self._parse_window_size(window)
        self._parse_slide(window)
        self._parse_delay(window)
        return window

    def _parse_window_partition(self) -> list[exp.Expr] | None:
        if not self._match(TokenType.PARTITION_BY):
            return None
        return self._parse_csv(self._parse_window_column)

    def _parse_window_column(self) -> exp.Expr:
        token = self._curr
        size_follows = self._next.token_type == TokenType.NUMBER
        column = None if size_follows else self._parse_column()
        if not isinstance(column, exp.Column):
            help = "write for example PARTITION BY key ROWS 100"
            self.fail(
                f"PARTITION BY takes columns of the stream, found {self.found()}", token, help
            )
        return column

    def _parse_window_kind(self, partitioned: bool) -> str:
        if self._match_texts(_KINDS):
            return self._prev.text.upper()
        wanted = "RANGE, ROWS, SESSION, NOW or PARTITION BY"
        if partitioned:
            help = "write PARTITION BY key ROWS 100 or PARTITION BY key SESSION 10 MINUTES"
            self.fail(f"expected ROWS or SESSION, found {self.found()}", help=help)
        self.fail(f"expected {wanted}, found {self.found()}", help=self._kind_help())

    def _kind_help(self) -> str:
        if self._curr.token_type == TokenType.NUMBER:
            unit = self._next.text if unit_name(self._next.text) else ""
            size = f"{self._curr.text} {unit}".strip()
            return f"write RANGE {size}" if unit else f"write RANGE {size} or ROWS {size}"
        near = nearest(self._curr.text, [*_KINDS, "PARTITION BY"]) if self._curr else None
        return f"did you mean `{near}`?" if near else f"windows: {_SHAPES}"

    def _fail_partition(self, token: Token, kind: str) -> NoReturn:
        window = "a time window" if kind == "RANGE" else "the now-window"
        self.fail(f"PARTITION BY does not go with {kind}", token, f"{window} {_SAME_ROWS}")

    def _parse_window_size(self, window: StreamWindow) -> None:
        kind = window.text("kind")
        if kind == "SESSION":
            window.set("size", self._parse_duration("SESSION"))
        elif self._match_text_seq("UNBOUNDED"):
            window.set("size", self.expression(Unbounded(), self._prev))
        elif self._match_text_seq("MIN"):
            self._parse_window_bounds(window, kind)
        else:
            window.set("size", self._parse_size(kind, kind))

    def _parse_window_bounds(self, window: StreamWindow, kind: str) -> None:
        shape = f"write {kind} MIN a, MAX b"
        low = self._parse_size(kind, "MIN")
        self.expect_token(TokenType.COMMA, ",", shape)
        self.expect("MAX", help=shape)
        token = self._curr
        high = self._parse_size(kind, "MAX")
        self._check_order(low, high, "MAX is smaller than MIN", token)
        window.set("min", low)
        window.set("max", high)

    def _parse_slide(self, window: StreamWindow) -> None:
        if not self._match_text_seq("SLIDE"):
            return
        if window.text("kind") in ("NOW", "SESSION"):
            kind = window.text("kind").lower()
            self.fail(f"the {kind}-window does not slide", self._prev, "remove SLIDE")
        token = self._curr
        slide = self._parse_size(window.text("kind"), "SLIDE")
        self._check_scale(window.args.get("size") or window.args["max"], slide, token)
        window.set("slide", slide)

    def _parse_delay(self, window: StreamWindow) -> None:
        if not self._match_text_seq("DELAY"):
            return
        if window.text("kind") != "RANGE":
            help = "write for example RANGE 10 MINUTES DELAY 1 HOUR"
            self.fail("DELAY belongs to a window of time", self._prev, help)
        token = self._curr
        delay = self._parse_duration("DELAY")
        self._check_scale(window.args.get("size") or window.args["max"], delay, token)
        window.set("delay", delay)

    def _parse_size(self, kind: str, clause: str) -> Duration | RowCount:
        return self._parse_row_count() if kind == "ROWS" else self._parse_duration(clause)

    def _at_granularity(self) -> bool:
        # Anything else after the parenthesis is a column list: granularity is then an alias.
        if self._curr.text.upper() != "GRANULARITY" or self._next.token_type != TokenType.L_PAREN:
            return False
        first = self.peek(2)
        starts = (TokenType.NUMBER, TokenType.INTERVAL, TokenType.DASH, TokenType.R_PAREN)
        return first.token_type in starts or first.text.upper() in ("COARSEST", "FINEST")

    def _parse_granularity(self) -> GranularityClause | None:
        if not self._at_granularity():
            return None
        start = self._curr
        self._advance(2)
        if self._match_texts(("COARSEST", "FINEST"), advance=False):
            node = self._parse_granularity_bounds()
        else:
            node = GranularityClause(size=self._parse_duration("GRANULARITY"))
        self._close_clause(TokenType.R_PAREN, ")")
        return self.expression(node, start)

    def _parse_granularity_bounds(self) -> GranularityClause:
        shape = "write GRANULARITY(COARSEST a, FINEST b)"
        self.expect("COARSEST", help=shape)
        coarsest = self._parse_duration("COARSEST")
        self.expect_token(TokenType.COMMA, ",", shape)
        self.expect("FINEST", help=shape)
        token = self._curr
        finest = self._parse_duration("FINEST")
        self._check_order(finest, coarsest, "FINEST is larger than COARSEST", token)
        return GranularityClause(coarsest=coarsest, finest=finest)
