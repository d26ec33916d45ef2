"""What a rule must know of an expression before it moves it.

An expression can stop a query: a division by zero, an overflow, a cast of a text that is no
number. Spark does not promise in which order conditions are tried; Tidemill promises more: a
rule never makes a query fail. So a condition that may fail is not shown rows that it would not
have seen. And a user function is not called more often than the plan says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from tidemill.algebra.scalar import Scalar, conjunction
from tidemill.algebra.schema import Schema
from tidemill.analyze.trees import cast
from tidemill.expressions import fits, infer
from tidemill.optimize.total import total_type


def is_total(scalar: Scalar, schema: Schema) -> bool:
    """Whether the expression has a value for every row, and always the same.

    >>> import pyarrow as pa
    >>> from sqlglot import parse_one
    >>> def total(text: str) -> bool:
    ...     node = parse_one(text, read="spark")
    ...     return is_total(Scalar(node, pa.bool_()), Schema.of(a=pa.int64(), s=pa.string()))
    >>> total("a > 1 AND s LIKE 'x%'"), total("1 / a > 1"), total("a + 1 > 1"), total("s > 1")
    (True, False, False, False)
    """
    return total_type(scalar.node, schema) is not None


def is_repeatable(scalar: Scalar) -> bool:
    """Whether it does not matter how often the expression is computed: no user function."""
    return scalar.node.find(exp.Anonymous) is None


def is_small(scalar: Scalar, schema: Schema) -> bool:
    """Whether the expression may be put in the place of a column: together they are not too large
    to be computed, as functions that are nested deeply become."""
    return not is_repeatable(scalar) or fits(scalar.node, schema)


def all_of(conditions: Iterable[Scalar]) -> Scalar:
    """The conditions joined with AND; there must be one."""
    joined = conjunction(*conditions)
    assert joined is not None
    return joined


def inlined(scalar: Scalar, parts: Mapping[str, Scalar], schema: Schema) -> Scalar:
    """The expression with columns replaced by what defines them over the columns of a schema.

    >>> import pyarrow as pa
    >>> from sqlglot import parse_one
    >>> length = Scalar(parse_one("LENGTH(s)"), pa.int32())
    >>> outer = Scalar(parse_one("n > 3"), pa.bool_())
    >>> inlined(outer, {"n": length}, Schema.of(s=pa.string()))
    (LENGTH(s)) > 3
    """
    used = {name: _typed(parts[name], schema) for name in scalar.columns}
    return scalar.substitute(used)


def _typed(part: Scalar, schema: Schema) -> Scalar:
    """A part that has its type also where it is put."""
    if part.is_column or isinstance(part.node, exp.Cast | exp.Anonymous):
        return part
    if is_repeatable(part) and infer(part.node, schema, {}) == part.type:
        return part
    return Scalar(cast(part.node.copy(), part.type), part.type)
