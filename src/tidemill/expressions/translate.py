"""From a tree of Spark's SQL to DuckDB's text, with Spark's types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.promises import spelled_out
from tidemill.algebra.schema import Schema
from tidemill.deadline import look
from tidemill.expressions.casts import cast, is_free
from tidemill.expressions.coercion import common_type
from tidemill.expressions.connection import register
from tidemill.expressions.duckdb_sql import quoted
from tidemill.expressions.functions import Functions
from tidemill.expressions.spelled import spelled_call
from tidemill.expressions.typed import (
    INT,
    NULL,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
)  # fmt: skip

Rule = Callable[["Translator", exp.Expr], Typed]


def translate(node: exp.Expr, schema: Schema, functions: Functions) -> Typed:
    """An expression over the columns of a schema, as DuckDB computes it, with Spark's type.

    >>> from sqlglot import parse_one
    >>> node = parse_one("DAYOFWEEK(d)", read="spark")
    >>> translate(node, Schema.of(d=pa.date32()), {}).sql
    'CAST(dayofweek("d") + 1 AS INT)'
    """
    return Translator(schema, functions).of(spelled_out(node))


class Translator:
    """What the rules share: the columns, the user's functions, and the way to the parts."""

    def __init__(self, schema: Schema, functions: Functions) -> None:
        self._schema = schema
        self._functions = functions
        self._found: dict[int, Typed] = {}
        self._variables: Mapping[str, Typed] = {}
        self._named = 0

    def fresh_names(self, function: exp.Lambda) -> list[str]:
        """Names for the variables of a function, which no column has."""
        self._named += len(function.expressions)
        first = self._named - len(function.expressions)
        return [f"spark_var{first + place}" for place in range(len(function.expressions))]

    def inside(self, function: exp.Lambda, values: Sequence[Typed]) -> Typed:
        """What a function makes of the values of its variables."""
        before = self._variables
        names = [variable.name.casefold() for variable in function.expressions]
        self._variables = {**before, **dict(zip(names, values, strict=True))}
        try:
            return self.of(function.this)
        finally:
            self._variables = before

    def of(self, node: exp.Expr) -> Typed:
        """A part of the expression. Rules may ask for the same one several times."""
        found = self._found.get(id(node))
        if found is None:
            found = self._found[id(node)] = self._of(node)
        return found

    def _of(self, node: exp.Expr) -> Typed:
        look()
        if isinstance(node, exp.Column):
            return Typed(quoted(node.name), self._schema[node.name], node)
        if isinstance(node, exp.Identifier) and node.name.casefold() in self._variables:
            return replace(self._variables[node.name.casefold()], node=node)
        if isinstance(node, exp.Anonymous):
            return self._call(node)
        rule = rules().get(type(node))
        if rule is None:
            raise NotSupported("", node)
        return rule(self, node)

    def arg(self, node: exp.Expr, wanted: pa.DataType, call: exp.Expr) -> Typed:
        """An argument in the type that the function takes; an error if Spark would not convert."""
        found = self.of(node)
        if not is_free(found.type, wanted):
            raise does_not_take(name_of_node(call), [found.type], call)
        return cast(found, wanted)

    def together(
        self, nodes: Sequence[exp.Expr], call: exp.Expr
    ) -> tuple[list[Typed], pa.DataType]:
        """Parts in the type that they have in common."""
        parts = [self.of(node) for node in nodes]
        shared = common_type(parts)
        if shared is None:
            raise does_not_take(name_of_node(call), [part.type for part in parts], call)
        return [cast(part, shared) for part in parts], shared

    def _call(self, node: exp.Anonymous) -> Typed:
        name = node.name.lower()
        if name == "raise_error":
            return Typed(f"error({self.of(node.expressions[0]).sql})", NULL, node)
        if name not in self._functions:
            if (rule := named_rules().get(name)) is not None:
                return rule(self, node)
            if (meant := spelled_call(node)) is None:
                raise NotSupported("", node)
            return replace(self.of(meant), node=node)
        function = self._functions[name]
        parts = [self.of(part) for part in node.expressions]
        parts = [cast(part, INT) if part.type == NULL else part for part in parts]
        called = register(function, [part.type for part in parts])
        return Typed(f"{called}({', '.join(part.sql for part in parts)})", function.type, node)


def name_of_node(node: exp.Expr) -> str:
    """What a function or an operator is called in messages."""
    if type(node) in _SIGNS:
        return _SIGNS[type(node)]
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


_SIGNS: Mapping[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.Neg: "-",
    exp.DPipe: "||", exp.IntDiv: "DIV", exp.BitwiseLeftShift: "<<", exp.BitwiseRightShift: ">>",
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.Case: "CASE", exp.In: "IN",
}  # fmt: skip
_found: dict[type[exp.Expr], Rule] = {}


def rules() -> Mapping[type[exp.Expr], Rule]:
    """What is known about every kind of expression."""
    if not _found:
        from tidemill.expressions import (
            array_sets,
            dates,
            lambdas,
            nested,
            numbers,
            operators,
            patterns,
            strings,
        )

        for module in (operators, strings, patterns, numbers, dates, nested, array_sets, lambdas):
            _found.update(module.RULES)
    return _found


@cache
def named_rules() -> Mapping[str, Rule]:
    """Those of functions that the parser knows by their name only."""
    from tidemill.expressions import array_sets, dates, lambdas, nested, numbers, strings

    modules = (numbers, nested, array_sets, lambdas, strings, dates)
    return {name: rule for module in modules for name, rule in module.NAMED.items()}


def simple(template: str, takes: Sequence[pa.DataType], gives: pa.DataType) -> Rule:
    """The rule of a function whose arguments have fixed types.

    >>> from sqlglot import parse_one
    >>> rule = simple("sqrt({0})", [pa.float64()], pa.float64())
    >>> rule(Translator(Schema.of(x=pa.float64()), {}), parse_one("SQRT(x)")).sql
    'sqrt("x")'
    """

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        given = arguments(node)
        if len(given) != len(takes):
            raise does_not_take(name_of_node(node), [parts.of(each).type for each in given], node)
        pairs = zip(given, takes, strict=True)
        found = [parts.arg(each, wanted, node).sql for each, wanted in pairs]
        return Typed(template.format(*found), gives, node)

    return rule


def arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a function in their order."""
    found: list[exp.Expr] = []
    for name in node.arg_types:
        value = node.args.get(name)
        if isinstance(value, list):
            found += value
        elif isinstance(value, exp.Expr):
            found.append(value)
    return found


def constant_text(node: exp.Expr, what: str) -> str:
    """The text of an argument that must be written out in the query."""
    inner = node.unnest()
    if isinstance(inner, exp.Literal) and inner.is_string:
        return str(inner.this)
    if isinstance(inner, exp.RawString):
        return str(inner.this)
    raise TypeMismatch(f"{what} must be a constant", node, f"write {what} into the query: '...'")


def constant_number(node: exp.Expr | None, what: str, default: int = 0) -> int:
    """The whole number of an argument that must be written out in the query."""
    if node is None:
        return default
    inner = node.unnest()
    sign, inner = (-1, inner.this) if isinstance(inner, exp.Neg) else (1, inner)
    if isinstance(inner, exp.Literal) and not inner.is_string and inner.name.isdigit():
        return sign * int(inner.name)
    raise TypeMismatch(f"{what} must be a constant", node, f"write {what} as a whole number")
