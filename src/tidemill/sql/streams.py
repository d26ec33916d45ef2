"""Parsing of stream references in FROM, and of ISTREAM, DSTREAM and RSTREAM."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlglot import exp
from sqlglot.tokens import TokenType

from tidemill.errors import nearest
from tidemill.sql.nodes import STREAM_FUNCTIONS, StreamFunction
from tidemill.sql.window_tables import WindowTableParser

__all__ = ["StreamParser"]

_LIFT: Final = "tidemill_stream_function"
_CLAUSE_STARTS: Final = frozenset(
    {
        TokenType.WHERE,
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.ORDER_BY,
        TokenType.LIMIT,
        TokenType.UNION,
        TokenType.EXCEPT,
        TokenType.INTERSECT,
        TokenType.JOIN,
        TokenType.FROM,
        TokenType.R_PAREN,
    }
)
_CLAUSE_BODIES: Final = frozenset(
    {TokenType.RANGE, TokenType.ROWS, TokenType.PARTITION_BY, TokenType.NUMBER}
)


class StreamParser(WindowTableParser):
    """FROM with windows, and the functions between streams and relations."""

    def _parse_table(
        self,
        schema: bool = False,
        joins: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
        parse_bracket: bool = False,
        is_db_reference: bool = False,
        parse_partition: bool = False,
        consume_pipe: bool = False,
    ) -> exp.Expr | None:
        if schema or is_db_reference:
            return super()._parse_table(schema=schema, is_db_reference=is_db_reference)
        self._refuse_bare_window()
        this: exp.Expr | None
        if self._at_stream_function():
            this = self.expression(exp.Table(this=self._parse_stream_function()))
        elif self._at_window_table():
            this = self.expression(exp.Table(this=self._parse_window_table()))
        else:
            this = super()._parse_table(
                alias_tokens=alias_tokens,
                parse_bracket=parse_bracket,
                parse_partition=parse_partition,
                consume_pipe=consume_pipe,
            )
        if this is not None:
            self._parse_stream_clauses(this, alias_tokens)
            for join in self._parse_joins(alias_tokens=alias_tokens) if joins else ():
                this.append("joins", join)
        return this

    def _parse_stream_clauses(
        self, this: exp.Expr, alias_tokens: Collection[TokenType] | None
    ) -> None:
        """Take the window, the granularity and the alias, the alias at any place."""
        if not isinstance(this, (exp.Table, exp.Subquery)):
            return
        self._parse_late_alias(this, alias_tokens)
        if window := self._parse_stream_window():
            this.set("stream_window", window)
            self._parse_late_alias(this, alias_tokens)
        if granularity := self._parse_granularity():
            this.set("granularity", granularity)
            self._parse_late_alias(this, alias_tokens)
        self._refuse_second_window(this)

    def _parse_late_alias(self, this: exp.Expr, alias_tokens: Collection[TokenType] | None) -> None:
        self._refuse_misspelt_clause()
        if not this.args.get("alias") and (alias := self._parse_table_alias(alias_tokens)):
            this.set("alias", alias)

    def _refuse_second_window(self, this: exp.Expr) -> None:
        if self._match_pair(TokenType.WINDOW, TokenType.L_PAREN, advance=False):
            if this.args.get("stream_window"):
                self.fail("a stream has one window", help="remove the second WINDOW")
            self.fail("WINDOW comes before GRANULARITY", help="swap the two clauses")

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        # A trailing LIMIT has lost its number; sqlglot would take it for an alias.
        if self._at_granularity() or self._curr.token_type == TokenType.LIMIT:
            return None
        if self._match_text_seq("SHED", "TO", advance=False):
            return None
        self._refuse_misspelt_clause()
        return super()._parse_table_alias(alias_tokens)

    def _refuse_misspelt_clause(self) -> None:
        """Stop at `WINDW(RANGE ...)`, which would read as an alias with a column list."""
        if self._curr.token_type != TokenType.VAR or self._next.token_type != TokenType.L_PAREN:
            return
        ends = (TokenType.COMMA, TokenType.R_PAREN)
        body, after = self.peek(2), self.peek(3)
        is_clause = body.token_type in _CLAUSE_BODIES and after.token_type not in ends
        is_clause = is_clause or body.text.upper() in ("NOW", "COARSEST")
        near = nearest(self._curr.text, ["WINDOW", "GRANULARITY"]) if is_clause else None
        if near and not self._at_granularity():
            self.fail(f"unknown clause `{self._curr.text}`", help=f"did you mean `{near}`?")

    def _refuse_bare_window(self) -> None:
        """Stop at `bid (RANGE 5 MINUTES)`, which would read as a function."""
        sizes = (TokenType.NUMBER, TokenType.INTERVAL)
        is_size = self.peek(3).token_type in sizes or self.peek(3).text.upper() == "UNBOUNDED"
        is_kind = self.peek(2).token_type in (TokenType.RANGE, TokenType.ROWS) and is_size
        is_kind = is_kind or self.peek(2).token_type == TokenType.PARTITION_BY
        if self._next.token_type == TokenType.L_PAREN and is_kind:
            help = f"write {self._curr.text} WINDOW({self.peek(2).text.upper()} ...)"
            self.fail("a window lacks the word WINDOW", self._next, help)

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        # A table has no elements: what follows it in brackets is a window.
        return this if isinstance(this, exp.Table) else super()._parse_bracket(this)

    def _parse_window_clause(self) -> list[exp.Expr] | None:
        if self._match_pair(TokenType.WINDOW, TokenType.L_PAREN, advance=False):
            help = "write the window directly after the name of the stream or its alias"
            self.fail("a window belongs to a stream in FROM", help=help)
        return super()._parse_window_clause()

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        if not self._match(TokenType.COMMA, advance=False):
            join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
            # Spark reads JOIN without ON as ON TRUE; an ON without condition is a mistake.
            if join and self._prev.token_type == TokenType.ON:
                self.fail(f"expected a condition after ON, found {self.found()}")
            return join
        comma = self._curr
        self._advance()
        if not self._curr or self._curr.token_type in _CLAUSE_STARTS:
            self.fail(f"unexpected comma before {self.found()}", comma, "remove the comma")
        # sqlglot tries and gives up silently here; a wrong table deserves its own error.
        return self.expression(
            exp.Join(this=self._parse_table(alias_tokens=alias_tokens), kind="CROSS")
        )

    def _parse_column_name(self, clause: str) -> exp.Expr:
        name = self._parse_id_var(any_token=False)
        if name is None:
            self.fail(f"{clause} takes the name of a column, found {self.found()}")
        return name

    def _at_stream_function(self) -> bool:
        return (
            self._curr.token_type == TokenType.VAR
            and self._next.token_type == TokenType.L_PAREN
            and self._curr.text.upper() in STREAM_FUNCTIONS
        )

    def _parse_stream_function(self) -> StreamFunction:
        token = self._curr
        self._advance(2)
        this = self._parse_wrapped_select(table=True)
        self.expect_token(TokenType.R_PAREN, ")", f"{token.text.upper()} takes one query or name")
        if isinstance(this, exp.Subquery) and this.is_wrapper and not _has_clauses(this):
            this = this.this
        return self.expression(StreamFunction(kind=token.text.upper(), this=this), token)

    def _parse_stream_query(self) -> StreamFunction:
        token = self._curr
        function = self._parse_stream_function()
        if isinstance(function.this, exp.Table):
            call = self._find_sql(token, self._prev)
            self.fail(
                f"{function.text('kind')} as a whole query takes a query",
                token,
                f"write SELECT * FROM {call}",
            )
        return function

    def _parse_select_query(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
    ) -> exp.Expr | None:
        this: exp.Expr | None
        if self._at_stream_function():
            this = self._parse_stream_query()
        elif self._match(TokenType.SELECT, advance=False):
            # Set operations come after the lifting: each operand has its own ISTREAM.
            this = super()._parse_select_query(nested, table, parse_subquery_alias, False)
            this = self._lift_stream_function(this)
        else:
            this = super()._parse_select_query(
                nested, table, parse_subquery_alias, parse_set_operation
            )
            return _sink_with(self._lift_stream_function(this))
        return self._parse_set_operations(this) if parse_set_operation else this

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        if not self._at_stream_function():
            return super()._parse_projections()
        token = self._curr
        self._advance(2)
        projections = self._parse_expressions()
        self._match_r_paren()
        more = self._curr and self._curr.token_type in (TokenType.COMMA, TokenType.ALIAS)
        if more or not projections:
            kind = token.text.upper()
            help = f"write for example SELECT {kind}(a, b AS c) FROM s"
            self.fail(f"{kind} takes the whole select list", token, help)
        projections[0].meta[_LIFT] = token
        return projections, None

    def _lift_stream_function(self, this: exp.Expr | None) -> exp.Expr | None:
        """Turn SELECT ISTREAM(a, b) FROM ... into ISTREAM(SELECT a, b FROM ...)."""
        if not isinstance(this, exp.Select) or not this.expressions:
            return this
        token = this.expressions[0].meta.pop(_LIFT, None)
        if token is None:
            return this
        return self.expression(StreamFunction(kind=token.text.upper(), this=this), token)

    def parse_set_operation(
        self, this: exp.Expr | None, consume_pipe: bool = False, intersect_only: bool = False
    ) -> exp.SetOperation | None:
        """Parse UNION, EXCEPT, INTERSECT; an operand ISTREAM(...) is a query, not a table."""
        if isinstance(this, exp.Table) and isinstance(this.this, StreamFunction):
            this = this.this if not (this.args.get("alias") or _has_clauses(this)) else this
        return super().parse_set_operation(this, consume_pipe, intersect_only)


def _has_clauses(this: exp.Expr) -> bool:
    return bool(this.args.get("stream_window") or this.args.get("granularity"))


def _sink_with(this: exp.Expr | None) -> exp.Expr | None:
    """Move WITH from an ISTREAM(...) to the query inside."""
    if isinstance(this, StreamFunction) and (with_ := this.args.get("with_")):
        this.set("with_", None)
        this.this.set("with_", with_)
    return this
