"""From logical plans to composed ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from tidemill.algebra import (
    Aggregate,
    AggregateCall,
    CountWindow,
    Filter,
    Granularity,
    Plan,
    Project,
    Scalar,
    Schema,
    SortKey,
    TimeWindow,
    TopK,
)
from tidemill.algebra.nodes import Conditional
from tidemill.algebra.ranking import CONFIDENCE
from tidemill.analyze import Catalog
from tidemill.analyze.context import Context
from tidemill.analyze.planner import plan_as_written
from tidemill.analyze.trees import cast
from tidemill.analyze.typecheck import type_of
from tidemill.analyze.windows import shown
from tidemill.compose.layout import laid_out
from tidemill.compose.logical.sources import AS_COLUMN
from tidemill.compose.model import Composed, Node, Value
from tidemill.compose.recognise import outer_join, source_of
from tidemill.compose.texts import column_text, quoted, scalar_text, spelled
from tidemill.engine import Engine
from tidemill.engine.named import unknown_query
from tidemill.errors import TidemillError, UnsupportedError
from tidemill.sql import QueryStatement, parse_one
from tidemill.timeline import TimeDomain

_NAME = re.compile(r"\w+")

Settings = dict[str, Value]
Opened = tuple[str, Settings, tuple[Plan, ...]]
"""A kind of node, its settings, and its inputs."""


def opened(plan: Plan, catalog: Catalog, domain: TimeDomain | None) -> Composed:
    """A logical plan as a composed one; equal parts are one node."""
    return _Opening(catalog, domain or TimeDomain.TICKS).composed(plan)


class _Opening:
    def __init__(self, catalog: Catalog, domain: TimeDomain) -> None:
        self._catalog = catalog
        self._domain = domain
        self._ids: dict[Plan, str] = {}
        self._nodes: list[Node] = []

    def composed(self, plan: Plan) -> Composed:
        output = self._id(plan)
        return laid_out(Composed("logical", tuple(self._nodes), output))

    def _id(self, plan: Plan) -> str:
        if plan not in self._ids:
            kind, settings, inputs = self._opened(plan)
            ids = tuple(self._id(part) for part in inputs)
            self._ids[plan] = f"n{len(self._nodes) + 1}"
            given = {name: value for name, value in settings.items() if value not in (None, "", [])}
            self._nodes.append(Node(self._ids[plan], kind, given, ids))
        return self._ids[plan]

    def _opened(self, plan: Plan) -> Opened:
        if (source := source_of(plan, self._catalog)) is not None:
            alias = "" if source.alias == source.name else source.alias
            time = AS_COLUMN if source.with_time else ""
            return "scan", {"source": source.name, "alias": alias, "time": time}, ()
        if (outer := outer_join(plan)) is not None:
            left, right, condition, side = outer
            text = "TRUE" if condition is None else spelled(condition.node)
            return "outer_join", {"side": side.lower(), "condition": text}, (left, right)
        name = f"_{type(plan).__name__.lower()}"
        rule: Callable[[Any], Opened] | None = getattr(self, name, None)
        if rule is not None:
            return rule(plan)
        if (kind := _PLAIN.get(type(plan).__name__)) is not None:
            return kind, {}, plan.children
        message = f"{type(plan).__name__} has no counterpart among the logical operators"
        raise UnsupportedError(message, help="open the query at the physical level")

    def _timewindow(self, plan: TimeWindow) -> Opened:
        slide = "" if plan.slide == 1 else shown(plan.slide, self._domain)
        if plan.size is None:
            return "unbounded_window", {"slide": slide}, plan.children
        least = shown(plan.bounds.low, self._domain) if plan.bounds else ""
        settings: Settings = {
            "size": shown(plan.size, self._domain),
            "slide": slide,
            "least": least,
        }
        return "time_window", settings, plan.children

    def _countwindow(self, plan: CountWindow) -> Opened:
        settings: Settings = {
            "rows": "UNBOUNDED" if plan.rows is None else plan.rows,
            "slide": None if plan.slide == 1 else plan.slide,
            "least": plan.bounds.low if plan.bounds else None,
        }
        if not plan.partition_by:
            return "count_window", settings, plan.children
        by: Settings = {"by": [column_text(name) for name in plan.partition_by]}
        return "partitioned_window", by | settings, plan.children

    def _granularity(self, plan: Granularity) -> Opened:
        coarsest = shown(plan.bounds.high, self._domain) if plan.bounds else ""
        settings: Settings = {"granule": shown(plan.granule, self._domain), "coarsest": coarsest}
        return "granularity", settings, plan.children

    def _filter(self, plan: Filter) -> Opened:
        return "filter", {"condition": spelled(plan.predicate.node)}, plan.children

    def _project(self, plan: Project) -> Opened:
        columns = [scalar_text(_typed(scalar), name) for name, scalar in plan.items]
        return "project", {"columns": columns}, plan.children

    def _aggregate(self, plan: Aggregate) -> Opened:
        keys = [column_text(key) for key in plan.keys]
        calls = [_call(call) for call in plan.calls]
        return "aggregate", {"keys": keys, "aggregates": calls}, plan.children

    def _topk(self, plan: TopK) -> Opened:
        settings: Settings = {
            "order": [_order(key) for key in plan.order],
            "limit": plan.limit,
            "offset": plan.offset or None,
        }
        if plan.approximate is not None:
            settings["answer"] = "approximate"
            usual = plan.approximate == CONFIDENCE
            settings["confidence"] = None if usual else plan.approximate
        return "top", settings, plan.children

    def _conditional(self, plan: Conditional, kind: str) -> Opened:
        text = "" if plan.condition is None else spelled(plan.condition.node)
        return kind, {"condition": text}, plan.children

    def _join(self, plan: Conditional) -> Opened:
        return self._conditional(plan, "join")

    def _semijoin(self, plan: Conditional) -> Opened:
        return self._conditional(plan, "semi_join")

    def _antijoin(self, plan: Conditional) -> Opened:
        return self._conditional(plan, "anti_join")


_PLAIN = {
    "Distinct": "distinct",
    "Istream": "istream",
    "Dstream": "dstream",
    "Rstream": "rstream",
    "Union": "union",
    "Difference": "difference",
    "StrictDifference": "strict_difference",
    "Intersection": "intersection",
    "MaxUnion": "max_union",
}


def _typed(scalar: Scalar) -> Scalar:
    """A constant that says its type, if that is not the one that its text has."""
    node = scalar.node.unnest()
    if not isinstance(node, exp.Literal | exp.Null | exp.Boolean):
        return scalar
    if type_of(node, Schema(()), {}) == scalar.type:
        return scalar
    return Scalar(cast(node.copy(), scalar.type), scalar.type)


def _call(call: AggregateCall) -> str:
    argument = "*" if call.argument is None else column_text(call.argument)
    distinct = "DISTINCT " if call.distinct else ""
    name = column_text(call.name)
    return f"{call.function}({distinct}{argument}) AS {name if '.' not in name else quoted(name)}"


def _order(key: SortKey) -> str:
    direction = " DESC" if key.descending else ""
    usual = key.nulls_first != key.descending
    nulls = "" if usual else (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
    return f"{column_text(key.column)}{direction}{nulls}"


def open_plan(engine: Engine, query: str) -> Composed:
    """A query, by its name or its text, as a logical plan that can be edited.

    >>> engine = Engine(runtime="inprocess")
    >>> engine.stream("bid", [{"item": 1, "price": 5, "at": 3}], time="at")
    >>> for node in open_plan(engine, "SELECT item FROM bid WHERE price > 4").nodes:
    ...     print(node.id, node.kind, node.settings, node.inputs)
    n1 scan {'source': 'bid'} ()
    n2 filter {'condition': 'bid.price > 4'} ('n1',)
    n3 project {'columns': ['bid.item']} ('n2',)
    """
    tree = query_tree(engine, query)
    context = Context(engine.catalog)
    plan = plan_as_written(tree, context)
    return opened(plan, engine.catalog, context.domain)


def query_tree(engine: Engine, query: str) -> exp.Expr:
    """The tree of a query that is named or written."""
    names = {each.name.casefold(): each.name for each in engine.listing() if each.kind == "query"}
    wanted = query.strip().strip("`")
    known = names.get(wanted.casefold())
    if known is None and _NAME.fullmatch(wanted):
        raise unknown_query(wanted, names.values())
    statement = parse_one(engine.queries.find(known).sql if known else query)
    found = getattr(statement, "query", None)
    if found is None and not isinstance(statement, QueryStatement):
        help = "give the name of a query, or write SELECT ..."
        raise TidemillError("that is no query", help=help)
    tree: exp.Expr = statement.tree if found is None else found
    return tree
