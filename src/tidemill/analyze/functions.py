"""Which functions an expression may call."""

from __future__ import annotations

import difflib
import re
from typing import Final

from sqlglot import exp

from tidemill.analyze.trees import COMPARISONS, QUERIES, outside_subqueries, source_text, written
from tidemill.catalog.catalog import Catalog
from tidemill.errors import PlanError, UnsupportedError, nearest
from tidemill.expressions.names import NAMES
from tidemill.sql import Tidemill, error_at
from tidemill.sql.elsewhere import FUNCTIONS

AGGREGATES: Final[dict[type[exp.Expr], str]] = {
    exp.Count: "COUNT",
    exp.Sum: "SUM",
    exp.Avg: "AVG",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.AnyValue: "MIN",  # the least is one of them, and the same each time
    exp.Variance: "VAR_SAMP",
    exp.VariancePop: "VAR_POP",
    exp.Stddev: "STDDEV_SAMP",
    exp.StddevSamp: "STDDEV_SAMP",
    exp.StddevPop: "STDDEV_POP",
}
# Names of Spark that sqlglot leaves alone.
ALIASES: Final = {
    "mean": "AVG",
    "std": "STDDEV_SAMP",
    "var": "VAR_SAMP",
    "every": "MIN",
    "some": "MAX",
}
SUPPORTED: Final = (
    *("COUNT", "COUNT_IF", "SUM", "AVG", "MIN", "MAX", "MIN_BY", "MAX_BY", "FIRST", "LAST"),
    *("BOOL_AND", "BOOL_OR"),
    *("ARRAY_AGG", "COLLECT_SET", "STRING_AGG", "MEDIAN", "PERCENTILE", "PERCENTILE_DISC", "MODE"),
    *("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", "COVAR_SAMP", "COVAR_POP", "CORR"),
    "REGR_SLOPE and its kin",
)
_CALL: Final = re.compile(r"(\w+)\s*\(")
_PARSED: Final = frozenset(Tidemill.Parser.FUNCTIONS) - {"CASE", "EXISTS"}
_UNITS: Final = frozenset(
    {"YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MM", "MON", "WEEK", "DAY", "DD", "HOUR", "MINUTE"}
    | {"SECOND", "MILLISECOND", "MICROSECOND"}
)
# Their text may begin with a call that is only a part of them.
_ARGUMENT_FIRST: Final = (exp.Anonymous, exp.Binary, exp.Case, exp.Cast, exp.If, exp.Filter)

_OTHER_WORDS: Final[dict[type[exp.Expr], str]] = {
    exp.Tuple: "compare column by column: a = 1 AND b = 2, or write IN (SELECT * FROM VALUES ...)",
    exp.SimilarTo: "write RLIKE with a regular expression",
    exp.Overlaps: "compare the ends: a.begin < b.end AND b.begin < a.end",
    exp.QueryTransform: "write it in Python and register it with engine.function(...)",
}
_UNREPEATABLE: Final = (
    exp.Rand,
    exp.Randn,
    exp.Uuid,
    exp.CurrentTimestamp,
    exp.CurrentDate,
    exp.CurrentTime,
)


def is_aggregate(node: exp.Expr, catalog: Catalog) -> bool:
    """Whether the node calls an aggregate function, known or not."""
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return name in ALIASES or name in catalog.aggregates
    return isinstance(node, (exp.AggFunc, exp.Filter, exp.WithinGroup))


def find_aggregate(node: exp.Expr, catalog: Catalog) -> exp.Expr | None:
    """The first aggregate call of an expression."""
    parts = (part for part in outside_subqueries(node) if not is_over_rows(part))
    return next((part for part in parts if is_aggregate(part, catalog)), None)


def is_over_rows(node: exp.Expr) -> bool:
    """Whether a call is the function of an OVER: that does not make groups."""
    above = node.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        node, above = above, above.parent
    return isinstance(above, exp.Window) and above.this is node


def check_functions(node: exp.Expr, catalog: Catalog) -> None:
    """Refuse functions that are unknown, or that have no exact meaning over time."""
    for part in outside_subqueries(node):
        if isinstance(part, exp.Column) and isinstance(part.this, exp.Star):
            help = "write `*` alone, or name a column"
            raise error_at(PlanError, "`*` stands for several columns", part, help)
        if isinstance(part, exp.Any | exp.All) and not isinstance(part.this, QUERIES):
            help = "write a subquery: ANY (SELECT ...), or IN (1, 2) for a list"
            if isinstance(part.parent, exp.Like | exp.ILike):
                help = "write the patterns one by one: x LIKE 'a%' OR x LIKE 'b%'"
            raise error_at(UnsupportedError, "ANY and ALL take a subquery", part, help)
        if isinstance(part, exp.Any | exp.All) and not isinstance(part.parent, COMPARISONS):
            help = "write EXISTS (SELECT 1 FROM ... WHERE ... LIKE ...), or NOT EXISTS"
            raise error_at(UnsupportedError, "ANY and ALL follow a comparison", part, help)
        if isinstance(part, exp.Window):
            help = "write QUALIFY, or compute it in a subquery in FROM"
            message = "OVER stands in the select list, ORDER BY or QUALIFY"
            raise error_at(PlanError, message, part, help)
        if isinstance(part, (exp.UDTF, exp.Explode, exp.Posexplode)):
            message = f"`{name_of_call(part)}` makes several rows of one, so it stands alone"
            help = "write it as an item of the select list, or in FROM: CROSS JOIN UNNEST(...)"
            if isinstance(part, exp.Values):
                help = "write it in FROM: IN (SELECT * FROM VALUES ...)"
            help = FUNCTIONS.get(name_of_call(part).lower(), help)
            raise error_at(PlanError, message, part, help)
        if isinstance(part, _UNREPEATABLE) or _is_call(part, "now"):
            message = f"`{name_of_call(part)}` has another value whenever it is computed"
            help = "use the time column of the stream, or a column with the value"
            raise error_at(UnsupportedError, message, part, help)
        if isinstance(part, exp.Anonymous) and not _is_known(part, catalog):
            raise _unknown(part, catalog)
        if _is_other_function(part, catalog):
            raise not_supported(part)
        if isinstance(part, exp.DateTrunc | exp.TimestampTrunc):
            _check_unit(part)


def name_of_call(node: exp.Expr) -> str:
    """The function's name, as in messages."""
    if isinstance(node, exp.Anonymous):
        return node.name
    if isinstance(node, exp.Func) and (found := _CALL.match(source_text(node))):
        return found[1]
    return node.sql_name() if isinstance(node, exp.Func) else node.sql(dialect=Tidemill)


def not_supported(node: exp.Expr, what: str = "", help: str | None = None) -> PlanError:
    """The error of something that Spark knows, and Tidemill does not."""
    if what:
        return error_at(UnsupportedError, f"{what} is not supported", node, help)
    if not isinstance(node, exp.Func):
        message = f"`{written(node)}` is not supported"
        return error_at(UnsupportedError, message, node, _in_other_words(node))
    name = name_of_call(node)
    like = difflib.get_close_matches(name.lower(), NAMES, n=3, cutoff=0.5)
    help = "write it in Python and register it with engine.function(...)"
    if like:
        help = f"known functions like it: {', '.join(like)}; or {help}"
    help = FUNCTIONS.get(name.lower(), help)
    return error_at(UnsupportedError, f"the function `{name}` is not supported", node, help)


def _in_other_words(node: exp.Expr) -> str:
    if isinstance(node, exp.Tuple) and not node.expressions:
        return "leave GROUP BY out"
    return _OTHER_WORDS.get(type(node), "write it in another way")


def _is_call(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == name


def _is_known(node: exp.Anonymous, catalog: Catalog) -> bool:
    name = node.name.lower()
    return name in catalog.functions or name in NAMES or is_aggregate(node, catalog)


def _is_other_function(node: exp.Expr, catalog: Catalog) -> bool:
    """Whether a function is called by a name that the parser knows, but Spark or Tidemill not."""
    if not isinstance(node, exp.Func) or isinstance(node, _ARGUMENT_FIRST):
        return False
    found = _CALL.match(source_text(node))  # what the parser added has no text of its own
    if found is None or is_aggregate(node, catalog):
        return False
    return found[1].upper() in _PARSED and found[1].lower() not in NAMES


def _check_unit(node: exp.Expr) -> None:
    """The parser knows more names of units than Spark, which answers NULL to those."""
    units = re.findall(r"'(\w*)'", source_text(node))
    if units and not _UNITS.intersection(map(str.upper, units)):
        help = "write 'YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE' or 'SECOND'"
        raise error_at(PlanError, "Spark knows no unit of this name", node, help)


def _unknown(node: exp.Anonymous, catalog: Catalog) -> PlanError:
    users = [function.name for function in catalog.functions.values()]
    users += [aggregate.name for aggregate in catalog.aggregates.values()]
    near = nearest(node.name, [*users, *NAMES, *map(str.lower, AGGREGATES.values()), *ALIASES])
    help = "write it in Python and register it with engine.function(...)"
    if near:
        help = f"did you mean `{near}`?"
    help = FUNCTIONS.get(node.name.lower(), help)
    return error_at(PlanError, f"unknown function `{node.name}`", node, help)
