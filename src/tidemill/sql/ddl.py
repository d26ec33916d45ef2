"""Parsing of whole statements: CREATE, DROP, INSERT, and what may begin a statement."""

from __future__ import annotations

from typing import Final, NoReturn

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.errors import nearest
from tidemill.sql.columns import ColumnParser
from tidemill.sql.elsewhere import CREATED, STATEMENTS
from tidemill.sql.nodes import (
    Connector,
    CreateAs,
    CreateSource,
    DropNamed,
    InsertRows,
    InsertSink,
    PlanText,
)

__all__ = ["StatementParser"]

_KINDS: Final = ("STREAM", "RELATION", "VIEW", "QUERY")
_STARTS: Final = (
    *("SELECT", "CREATE", "DROP", "INSERT", "DELETE", "ALTER", "START", "STOP"),
    *("WITH", "ISTREAM", "DSTREAM", "RSTREAM", "SHOW", "DESCRIBE", "EXPLAIN"),
)
_QUERY_STARTS: Final = frozenset(
    {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}
)
_CONNECTOR_HELP: Final = "write for example SOURCE parquet(path => 'bids/')"


class StatementParser(ColumnParser):
    """The statements of the language."""

    STATEMENT_PARSERS = {
        TokenType.CREATE: lambda self: self._parse_create_object(),
        TokenType.DROP: lambda self: self._parse_drop_object(),
        TokenType.INSERT: lambda self: self._parse_insert_into(),
        TokenType.DELETE: lambda self: self._parse_delete_rows(),
    }

    def _parse_statement(self) -> exp.Expr | None:
        if not self._curr:
            return None
        if self._at_stream_function():
            return self._parse_select()
        if self._curr.token_type is TokenType.VALUES:
            rows = self._parse_derived_table_values()
            return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows))
        known = self._curr.token_type in self.STATEMENT_PARSERS
        if not known and self._curr.token_type not in _QUERY_STARTS:
            self._fail_statement()
        return super()._parse_statement()

    def _fail_statement(self) -> NoReturn:
        near = nearest(self._curr.text, _STARTS)
        statements = (
            "SELECT, CREATE STREAM, CREATE RELATION, CREATE VIEW, CREATE QUERY, DROP, INSERT INTO, "
            "DELETE FROM, START QUERY, STOP QUERY, ALTER QUERY, SHOW, DESCRIBE, EXPLAIN"
        )
        help = f"did you mean `{near}`?" if near else f"statements: {statements}"
        help = STATEMENTS.get(self._curr.text.upper(), help)
        self.fail(f"a statement cannot start with {self.found()}", help=help)

    def _parse_object_kind(self, verb: str) -> str:
        if self._match_texts(_KINDS):
            return self._prev.text.upper()
        near = nearest(self._curr.text, _KINDS) if self._curr else None
        help = f"write {', '.join(f'{verb} {kind}' for kind in _KINDS[:-1])} or {verb} QUERY"
        help = f"did you mean `{near}`?" if near else help
        if verb == "CREATE" and self._curr:
            help = CREATED.get(self._curr.text.upper(), help)
        self.fail(f"expected STREAM, RELATION, VIEW or QUERY, found {self.found()}", help=help)

    def _parse_name(self, what: str) -> exp.Identifier:
        token = self._curr
        name = self._parse_id_var(any_token=False)
        if not isinstance(name, exp.Identifier):
            self.fail(f"expected the name of the {what.lower()}, found {self.found()}", token)
        if self._match(TokenType.DOT, advance=False):
            help = "quote a name that contains a dot with backquotes"
            self.fail(f"the name of a {what.lower()} cannot contain a dot", help=help)
        return name

    def _parse_create_object(self) -> exp.Expr:
        replace = bool(self._match_text_seq("OR", "REPLACE"))
        kind = self._parse_object_kind("CREATE")
        token = self._curr
        exists = bool(self._match_text_seq("IF", "NOT", "EXISTS"))
        if exists and replace:
            self.fail("OR REPLACE and IF NOT EXISTS exclude each other", token, "choose one")
        node = self._parse_created(kind, self._parse_name(kind))
        node.set("exists", exists)
        node.set("replace", replace)
        return node

    def _parse_created(self, kind: str, name: exp.Identifier) -> exp.Expr:
        if kind == "QUERY":
            return self._parse_create_query(name)
        if kind == "VIEW":
            self.expect("AS", help=f"write CREATE VIEW {name.name} AS SELECT ...")
        elif not self._match(TokenType.ALIAS):
            return self._parse_create_source(kind, name)
        query = self._parse_query()
        return self.expression(CreateAs(kind=kind, this=name, expression=query))

    def _parse_create_query(self, name: exp.Identifier) -> exp.Expr:
        self.expect("AS", help=f"write CREATE QUERY {name.name} AS SELECT ...")
        token = self._curr
        inner = (
            self._parse_insert_into()
            if self._match_text_seq("INSERT")
            else self._parse_definition()
        )
        if isinstance(inner, InsertRows):
            help = "write INSERT INTO console() SELECT ..."
            self.fail("a query with a name inserts into a sink", token, help)
        return self.expression(CreateAs(kind="QUERY", this=name, expression=inner))

    def _parse_definition(self) -> exp.Expr:
        """A query, or a plan that was composed by hand."""
        if self._curr.text.upper() != "PLAN" or self._next.token_type != TokenType.STRING:
            return self._parse_query()
        self._advance()
        return self.expression(PlanText(this=self._parse_string()))

    def _at_query(self) -> bool:
        return self._at_stream_function() or self._curr.token_type in _QUERY_STARTS

    def _parse_query(self) -> exp.Expr:
        token = self._curr
        if not self._at_query():
            self.fail(f"expected a query, found {self.found()}", help="write SELECT ...")
        query = self._parse_statement()
        if not query:
            self.fail("expected a query", token)
        return query

    def _parse_create_source(self, kind: str, name: exp.Identifier) -> exp.Expr:
        if not self._match(TokenType.L_PAREN, advance=False):
            help = f"write CREATE {kind} {name.name} (column TYPE, ...) SOURCE format(...)"
            help += f" or CREATE {kind} {name.name} AS SELECT ..."
            self.fail(f"expected columns or AS, found {self.found()}", help=help)
        columns = self._parse_wrapped_csv(self._parse_typed_column)
        node = CreateSource(kind=kind, this=name, expressions=columns)
        # Rows are pushed into a stream, and inserted into a relation, that come from nowhere else.
        if not self._match_texts(
            ("ORDERED",) if kind == "STREAM" else ("CHANGING",), advance=False
        ):
            self._expect_source(kind)
            node.set("source", self._parse_connector("SOURCE"))
        if kind == "STREAM":
            self._parse_ordering(node)
            self._parse_retain(node)
            self._parse_idle(node)
            self._parse_at_most(node)
            self._parse_at_most(node)
        else:
            self._parse_validity(node)
        self._refuse_other_clause(kind)
        return self.expression(node)

    def _refuse_other_clause(self, kind: str) -> None:
        if kind == "RELATION" and self._match_text_seq("ORDERED", "BY", advance=False):
            self.fail("ORDERED BY belongs to streams", help="write VALID FROM begin TO end")
        if kind == "STREAM" and self._match_text_seq("VALID", "FROM", advance=False):
            self.fail("VALID FROM belongs to relations", help="write ORDERED BY column")
        if kind == "STREAM" and self._match_text_seq("CHANGING", advance=False):
            self.fail("CHANGING belongs to relations", help="write ORDERED BY column")
        if kind == "RELATION" and self._match_text_seq("RETAIN", advance=False):
            self.fail("RETAIN belongs to streams", help="remove it: a relation has all its rows")
        if kind == "RELATION" and self._match_text_seq("AT", "MOST", advance=False):
            self.fail("AT MOST belongs to streams", help="remove it")

    def _expect_source(self, kind: str) -> None:
        if self._match_text_seq("SOURCE"):
            return
        near = nearest(self._curr.text, ["SOURCE"]) if self._curr else None
        help = f"a {kind.lower()} needs data: {_CONNECTOR_HELP}"
        if kind == "STREAM":
            help += ", or ORDERED BY column for one into which rows are pushed"
        help = f"did you mean `{near}`?" if near else help
        self.fail(f"expected SOURCE, found {self.found()}", help=help)

    def _parse_ordering(self, node: CreateSource) -> None:
        if not self._match_text_seq("ORDERED", "BY"):
            return
        self._parse_ordered_by(node)
        if self._match_text_seq("SLACK"):
            node.set("slack", self._parse_duration("SLACK", zero=True))

    def _parse_retain(self, node: CreateSource) -> None:
        if self._match_text_seq("RETAIN"):
            node.set("retain", self._parse_duration("RETAIN"))
            if self._match_text_seq("SLACK", advance=False):
                self.fail("SLACK comes before RETAIN", help="write SLACK ... RETAIN ...")

    def _parse_idle(self, node: CreateSource) -> None:
        if not self._match_text_seq("IDLE"):
            return
        token = self._curr
        idle = self._parse_duration("IDLE")
        if idle.unit is None:
            help = f"it is time on the clock, whatever the stream counts: IDLE {idle.value} SECONDS"
            self.fail("IDLE needs a unit", token, help)
        node.set("idle", idle)

    def _parse_validity(self, node: CreateSource) -> None:
        if self._match_text_seq("CHANGING"):
            node.set("changing", True)
            if not self._match_text_seq("FROM", advance=False):
                return
        elif not self._match_text_seq("VALID"):
            return
        word = self._prev.text.upper()
        self.expect("FROM", help=f"write {word} FROM begin TO end")
        node.set("valid_from", self._parse_column_name(f"{word} FROM"))
        self.expect("TO", help=f"write {word} FROM begin TO end")
        node.set("valid_to", self._parse_column_name("TO"))

    def _parse_connector(self, clause: str) -> Connector:
        token = self._curr
        name = self._parse_id_var(any_token=True)
        while name and self._match(TokenType.DOT):
            name = self.expression(exp.Dot(this=name, expression=self._parse_id_var()))
        if not name or not self._match(TokenType.L_PAREN):
            path = "bids/" if clause == "SOURCE" else "results/"
            help = f"write for example {clause} parquet(path => '{path}')"
            self.fail(f"{clause} takes a format with its options in parentheses", token, help)
        options = [] if self._curr.token_type == TokenType.R_PAREN else self._parse_options()
        self.expect_token(TokenType.R_PAREN, ")", "close the options with `)`")
        return self.expression(Connector(this=name, expressions=options), token)

    def _parse_options(self) -> list[exp.Expr]:
        return self._parse_csv(self._parse_option)

    def _parse_option(self) -> exp.Expr | None:
        start = self._curr
        if name := self._parse_option_name():
            return self.expression(exp.Kwarg(this=name, expression=self._parse_option_value()))
        if self._next.token_type == TokenType.EQ:
            name_text = self._curr.text
            self.fail("an option is written with =>", self._next, f"write {name_text} => value")
        return self._parse_option_value() if start.token_type != TokenType.R_PAREN else None

    def _parse_option_name(self) -> exp.Expr | None:
        """Take `name =>`, `dotted.name =>` or `'name' =>`; leave anything else alone."""
        index = self._index
        first = self._curr
        while self._advance_any() or self._match(TokenType.STRING):
            if self._match(TokenType.FARROW):
                last = self.peek(-2)
                return self._option_name(first, last)
            if not self._match(TokenType.DOT):
                break
        self._retreat(index)
        return None

    def _option_name(self, first: Token, last: Token) -> exp.Expr:
        quoted = first.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
        text = first.text if quoted else self._find_sql(first, last)
        plain = text.isidentifier()
        return exp.to_identifier(text, quoted=not plain).update_positions(first)

    def _parse_option_value(self) -> exp.Expr:
        token = self._curr
        value = self._parse_unary() if token else None
        literal = value.this if isinstance(value, exp.Neg) else value
        if isinstance(literal, (exp.Literal, exp.Boolean, exp.Null)) and value is not None:
            return value
        help = "write name => 'text', name => 10 or name => TRUE"
        self.fail("an option takes a string, a number or a boolean", token, help)

    def _parse_drop_object(self) -> exp.Expr:
        kind = self._parse_object_kind("DROP")
        exists = self._parse_if_exists()
        return self.expression(DropNamed(kind=kind, this=self._parse_name(kind), exists=exists))

    def _parse_if_exists(self) -> bool:
        return bool(self._match_text_seq("IF", "EXISTS"))

    def _parse_insert_into(self) -> exp.Expr:
        self.expect("INTO", help="write INSERT INTO format(option => value) SELECT ...")
        if self._at_rows():
            return self._parse_insert_rows()
        sink = self._parse_connector("INSERT INTO")
        return self.expression(InsertSink(this=sink, expression=self._parse_query()))
