"""Parsing of the columns of CREATE STREAM and CREATE RELATION: types, and what is said of them."""

from __future__ import annotations

from typing import Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.errors import nearest
from tidemill.sql.nodes import CreateSource
from tidemill.sql.promises import PromiseParser

__all__ = ["ColumnParser"]

# fmt: off
_TYPES: Final = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING",
    "BINARY", "DATE", "TIMESTAMP", "ARRAY", "MAP", "STRUCT",
)
# fmt: on
_KEPT: Final = (
    exp.NotNullColumnConstraint,
    exp.CommentColumnConstraint,
    exp.ComputedColumnConstraint,
)
_KEY_HELP: Final = "say how often a value comes, behind ORDERED BY: AT MOST 1 PER column"
_CHECK_HELP: Final = "write value DOUBLE BETWEEN 0 AND 1, or a view with WHERE"
_REFUSED: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    exp.DefaultColumnConstraint: ("DEFAULT", "write a column: b AS COALESCE(a, 0)"),
    exp.PrimaryKeyColumnConstraint: ("PRIMARY KEY", _KEY_HELP),
    exp.UniqueColumnConstraint: ("UNIQUE", _KEY_HELP),
    exp.CheckColumnConstraint: ("CHECK", _CHECK_HELP),
    exp.GeneratedAsIdentityColumnConstraint: (
        "IDENTITY",
        "give rows a number before they come: who counts first would be by chance",
    ),
}
_OF_TABLES: Final = {
    ("PRIMARY KEY", "("): _KEY_HELP,
    ("FOREIGN KEY", "("): "leave it out: joins are written in queries",
    ("UNIQUE", "("): _KEY_HELP,
    ("CHECK", "("): _CHECK_HELP,
    ("WATERMARK", "FOR"): "write ORDERED BY ts SLACK 5 SECONDS behind the columns",
    ("PERIOD", "FOR"): "write VALID FROM begin TO end behind the columns of a relation",
}
_IN_EXPRESSIONS: Final = frozenset(
    {
        *(TokenType.L_PAREN, TokenType.DOT, TokenType.DCOLON, TokenType.COLON, TokenType.L_BRACKET),
        *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.DIV),
        *(TokenType.MOD, TokenType.ALIAS, TokenType.STRING),
    }
)


class ColumnParser(PromiseParser):
    """Columns that rows bring, and those that are computed of them."""

    def _parse_typed_column(self) -> exp.Expr | None:
        if not self._curr or self._curr.token_type in (TokenType.R_PAREN, TokenType.COMMA):
            return None
        token = self._curr
        self._refuse_table_constraint()
        name = self._parse_id_var(any_token=True)
        if not isinstance(name, exp.Identifier):
            self.fail(f"expected the name of a column, found {self.found()}", token)
        if self._match(TokenType.ALIAS):
            return self._computed(name, self._parse_computation(f"{name.name} AS"))
        column = self._parse_column_def(name)
        if not isinstance(column, exp.ColumnDef) or not column.args.get("kind"):
            self._refuse_type()
            help = f"write for example {name.name} BIGINT"
            self.fail(f"column `{name.name}` has no type", token, help)
        self._refuse_constraints(column, token)
        if (limits := self._parse_value_range()) is not None:
            column.set("range", limits)
        return column

    def _refuse_type(self) -> None:
        if self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            near = nearest(self._curr.text, _TYPES)
            help = f"did you mean `{near}`?" if near else f"types: {', '.join(_TYPES)}"
            self.fail(f"unknown type {self.found()}", help=help)

    def _refuse_table_constraint(self) -> None:
        first = self._curr
        start = 2 if first.text.upper() == "CONSTRAINT" else 0
        words = (self.peek(start).text.upper(), self.peek(start + 1).text.upper())
        if (help := _OF_TABLES.get(words)) is not None:
            found = " ".join(word for word in words if word != "(")
            self.fail(f"{found} is not supported", first, help)

    def _refuse_constraints(self, column: exp.ColumnDef, token: Token) -> None:
        """What would be ignored must not be there."""
        for constraint in column.args.get("constraints") or ():
            kind = constraint.args["kind"]
            if not isinstance(kind, _KEPT):
                what, help = _REFUSED.get(type(kind), (kind.sql().split("(")[0], "leave it out"))
                self.fail(f"{what} is not supported", token, help, last=self._prev)

    def _computed(self, name: exp.Expr, value: exp.Expr) -> exp.ColumnDef:
        kind = exp.ComputedColumnConstraint(this=value)
        column = exp.ColumnDef(this=name, constraints=[exp.ColumnConstraint(kind=kind)])
        column.meta.update(name.meta)
        return column

    def _parse_computation(self, before: str) -> exp.Expr:
        value = self._parse_disjunction() if self._curr else None
        if value is None:
            help = f"write for example {before} to_timestamp(text)"
            self.fail(f"{before} takes an expression, found {self.found()}", help=help)
        return value

    def _parse_ordered_by(self, node: CreateSource) -> None:
        """ORDERED BY a column, or ORDERED BY an expression AS the name of the column it makes."""
        if self._next is None or self._next.token_type not in _IN_EXPRESSIONS:
            node.set("ordered_by", self._parse_column_name("ORDERED BY"))
            return
        value = self._parse_computation("ORDERED BY")
        self.expect("AS", help="give the time a name: ORDERED BY to_timestamp(text) AS ts")
        name = self._parse_column_name("AS")
        node.append("expressions", self._computed(name.copy(), value))
        node.set("ordered_by", name)
