"""Parsing of SHED TO ... ROWS BY ... USING ..."""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import TokenType

from tidemill.errors import nearest
from tidemill.sql.nodes import Shed
from tidemill.sql.streams import StreamParser

__all__ = ["SheddingParser"]

_POLICIES: Final = ("SIMP", "SIMPPROB", "DIMPPROB", "DGL", "SEMANTIC", "RANDOM")
_PARAMETERS: Final = {"DGL": ("ALPHA", "BETA"), "RANDOM": ("SEED",)}
_HELP: Final = "write SHED TO 10000 ROWS BY a.importance, b.importance USING dgl"


class SheddingParser(StreamParser):
    """The bound on the memory of a join, at the end of a query block."""

    def _parse_query_modifiers(self, this: Any) -> Any:
        this = super()._parse_query_modifiers(this)
        if isinstance(this, exp.Select) and self._at_shed():
            this.set("shed", self._parse_shed())
            if self._at_shed():
                self.fail("a query has one SHED", help="remove the second one")
        return this

    def _at_shed(self) -> bool:
        return self._match_text_seq("SHED", "TO", advance=False) is True

    def _parse_shed(self) -> exp.Expr:
        token = self._curr
        self._advance(2)
        rows = self._parse_number_of_rows()
        self.expect("ROWS", help=_HELP)
        by = self._parse_csv(self._parse_disjunction) if self._match_text_seq("BY") else []
        policy, parameters = "DGL", list[exp.Expr]()
        if self._match_text_seq("USING"):
            policy, parameters = self._parse_policy()
        node = Shed(rows=rows, expressions=by, policy=policy, parameters=parameters)
        return self.expression(node, token)

    def _parse_number_of_rows(self) -> exp.Expr:
        token, found = self._curr, self.found()
        value = self._parse_unary() if token else None
        if not isinstance(value, exp.Literal) or not value.name.isdecimal() or not int(value.name):
            self.fail(f"SHED TO takes a number of rows, found {found}", token, _HELP)
        return value

    def _parse_policy(self) -> tuple[str, list[exp.Expr]]:
        token = self._curr
        name = token.text.upper() if token else ""
        if name not in _POLICIES:
            near = nearest(name, _POLICIES)
            help = f"did you mean `{near}`?" if near else f"policies: {', '.join(_POLICIES)}"
            self.fail(f"unknown policy {self.found()}", help=help)
        self._advance()
        if not self._match(TokenType.L_PAREN):
            return name, []
        parameters = self._parse_csv(lambda: self._parse_policy_parameter(name))
        self.expect_token(TokenType.R_PAREN, ")", "close the parameters with `)`")
        return name, parameters

    def _parse_policy_parameter(self, policy: str) -> exp.Expr | None:
        token, known = self._curr, _PARAMETERS.get(policy, ())
        name = token.text.upper() if token else ""
        if name not in known or self._next.token_type != TokenType.FARROW:
            names = " and ".join(f"{each.lower()} => 1" for each in known)
            help = f"parameters: {names}" if known else "remove the parentheses"
            self.fail(f"{policy} has no parameter {self.found()}", help=help)
        self._advance(2)
        place = self._curr
        value = self._parse_unary() if place else None
        if not isinstance(value, exp.Literal) or value.is_string:
            self.fail(f"{name.lower()} takes a positive number", place)
        return self.expression(exp.Kwarg(this=exp.to_identifier(name), expression=value), token)
