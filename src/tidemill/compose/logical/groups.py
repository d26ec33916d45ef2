"""Groups of rows and what they have in common, and the first rows."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import AggregateCall, Plan, Project, SortKey, TopK, column
from tidemill.algebra.ranking import CONFIDENCE
from tidemill.analyze.aggregation import Grouping
from tidemill.analyze.functions import find_aggregate, is_aggregate, name_of_call
from tidemill.analyze.over import over_plan
from tidemill.analyze.over_clause import OverExpr, read_over
from tidemill.analyze.stage import PlanStage, with_column
from tidemill.analyze.trees import written
from tidemill.compose import texts
from tidemill.compose.bench import Bench, placed_in
from tidemill.compose.logical.rows import seen
from tidemill.compose.model import about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.errors import PlanError
from tidemill.sql import error_at


def _aggregate(bench: Bench) -> Plan:
    stage = bench.stage(bench.plan)
    grouping = Grouping(stage, lambda node: node)
    for text, node in bench.expressions("keys"):
        with about("keys"), placed_in(text):
            _add_key(bench, grouping, node, stage)
    calls: dict[str, AggregateCall] = {}
    for text, node in bench.expressions("aggregates"):
        with about("aggregates"), placed_in(text):
            call = _call(bench, grouping, node, stage, {*calls, *grouping.keys})
        calls[call.name] = call
    grouping.calls = calls
    if not calls and not grouping.keys:
        raise wrong("there is nothing to group by or aggregate", "for example COUNT(*) AS n")
    return grouping.build()


def _add_key(bench: Bench, grouping: Grouping, node: exp.Expr, stage: PlanStage) -> None:
    bound = bench.bound(node.unalias(), stage)
    if isinstance(bound, exp.Column) and node.alias not in ("", bound.name):
        help = "rename it with a Project above, or compute something from it"
        raise error_at(PlanError, "a column keeps its name as a key", node, help)
    bench.context.wish = node.alias or None
    grouping.add_key(bound)
    bench.context.wish = None


def _call(
    bench: Bench, grouping: Grouping, node: exp.Expr, stage: PlanStage, taken: set[str]
) -> AggregateCall:
    value = node.unalias()
    if not is_aggregate(value, bench.catalog):
        found = find_aggregate(value, bench.catalog)
        call = written(found) if found is not None else "SUM(price)"
        help = f"write {call} here, and compute with it in a Project above"
        raise error_at(PlanError, "this is not one aggregate", node, help)
    name = node.alias or _name(value, taken)
    if name in taken:
        help = "give one another name with AS"
        raise error_at(PlanError, f"two columns are named `{name}`", node, help)
    # Every call has a column of its own, even if another one computes the same.
    grouping.calls.clear()
    bench.context.wish = name
    grouping.translate(stage.bind(value))
    bench.context.wish = None
    return grouping.calls[name]


def _name(node: exp.Expr, taken: set[str]) -> str:
    call = node.this if isinstance(node, exp.Filter) else node
    columns = [part.name for part in call.find_all(exp.Column)]
    first = "_".join([name_of_call(call).lower(), *columns[:1]])
    name, number = first, 1
    while name in taken:
        number += 1
        name = f"{first}_{number}"
    return name


def _top(bench: Bench) -> Plan:
    plan = seen(bench.plan)
    stage = bench.stage(plan)
    keys, extended = [], plan
    for line in bench.lines("order"):
        with about("order"):
            terms = texts.order_terms(line)
        for term in terms:
            with about("order"), placed_in(line):
                bound = bench.bound(term.this, stage).unnest()
                name = str(bound.name)
                if not isinstance(bound, exp.Column):
                    name = bench.context.fresh("sort")
                    extended = with_column(extended, name, stage.scalar(bound))
            descending = bool(term.args.get("desc"))
            keys.append(SortKey(name, descending, bool(term.args.get("nulls_first"))))
    limit, offset = bench.integer("limit", 1), bench.integer("offset") or 0
    approximate = CONFIDENCE if bench.choice("answer") == "approximate" else None
    if approximate is not None:
        approximate = bench.number("confidence") or approximate
    assert limit is not None
    first = TopK(extended, tuple(keys), limit, offset, approximate)
    if extended is plan:
        return first
    return Project(first, tuple((f.name, column(f.name, f.type)) for f in plan.schema))


def _over_rows(bench: Bench) -> Plan:
    stage, named = bench.stage(bench.plan), {}
    for text, node in bench.expressions("functions"):
        with about("functions"), placed_in(text):
            value = read_over(node.unalias(), {}, bench.catalog)
            if not isinstance(value, OverExpr):
                help = "write for example ROW_NUMBER() OVER (ORDER BY price) AS n"
                raise error_at(PlanError, "this is no function with OVER", node, help)
            name = node.alias or value.args["function"].lower()
            if name in named or name in bench.plan.schema:
                help = "give one another name with AS"
                raise error_at(PlanError, f"two columns are named `{name}`", node, help)
            named[name] = bench.bound(value, stage)
    with about("functions"):
        return over_plan(stage, named)


OPERATORS = (
    Card(
        "over_rows",
        "Functions over rows",
        "groups",
        "Numbers or ranks rows, looks at neighbours, or aggregates over a frame (OVER).",
        _over_rows,
        (
            Setting(
                "functions",
                "Functions",
                "columns",
                "Functions with OVER; name each with AS.",
                "ROW_NUMBER() OVER (PARTITION BY item ORDER BY price) AS n",
                required=True,
            ),
        ),
    ),
    Card(
        "aggregate",
        "Aggregate",
        "groups",
        "Groups rows and counts, sums or averages each group, at every instant.",
        _aggregate,
        (
            Setting(
                "keys",
                "Group by",
                "columns",
                "The columns that define a group; without them, all rows are one group.",
                "item",
            ),
            Setting(
                "aggregates",
                "Aggregates",
                "aggregates",
                "COUNT, SUM, AVG, MIN, MAX, variances, and your own; name each with AS.",
                "COUNT(*) AS n, MAX(price) AS best",
            ),
        ),
    ),
    Card(
        "top",
        "Top k",
        "ranking",
        "Keeps the first rows at every instant, in a given order.",
        _top,
        (
            Setting(
                "order",
                "Order by",
                "order",
                "The sort order; by default, rows are ordered by their columns.",
                "price DESC",
            ),
            Setting("limit", "Rows", "integer", "How many rows.", "10", required=True),
            Setting("offset", "Skip", "integer", "How many rows to skip first.", "0"),
            Setting(
                "answer",
                "Answer",
                "choice",
                "An approximate answer is mostly right and needs little memory.",
                "exact",
                default="exact",
                choices=("exact", "approximate"),
            ),
            Setting(
                "confidence",
                "Confidence",
                "number",
                "For an approximate answer: a higher value keeps more rows and misses fewer.",
                "1.0",
            ),
        ),
    ),
)
