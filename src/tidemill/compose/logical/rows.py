"""Operators that look at one input, row by row or instant by instant."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Distinct, Filter, Plan, Project, Scalar, Unnest, column
from tidemill.algebra.types import name_of
from tidemill.analyze.relation import unique_names
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import written
from tidemill.analyze.windows import apply_function
from tidemill.compose.bench import Bench, placed_in
from tidemill.compose.model import Wrong, about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.texts import short
from tidemill.errors import PlanError, TidemillError
from tidemill.sql import StreamFunction, error_at


def _filter(bench: Bench) -> Plan:
    stage = bench.stage(bench.plan)
    predicate = bench.condition("condition", stage)
    assert predicate is not None
    return Filter(bench.plan, predicate)


def _project(bench: Bench) -> Plan:
    stage = bench.stage(bench.plan)
    items = [
        item
        for text, node in bench.expressions("columns")
        for item in _items(bench, text, node, stage)
    ]
    seen: set[str] = set()
    for name, _ in items:
        if name.casefold() in seen:
            help = "give one another name with AS"
            raise wrong(f"two columns are named `{name}`", help, "columns")
        seen.add(name.casefold())
    return Project(bench.plan, tuple(items))


def _items(
    bench: Bench, text: str, node: exp.Expr, stage: PlanStage
) -> Iterator[tuple[str, Scalar]]:
    if isinstance(node, exp.Star):
        yield from all_columns(bench.plan)
        return
    with about("columns"), placed_in(text):
        value = node.unalias()
        bound = bench.bound(value, stage)
        own = short(bound.name) if isinstance(bound, exp.Column) else written(value)
        yield node.alias or own, stage.scalar(bound)


def all_columns(plan: Plan) -> list[tuple[str, Scalar]]:
    """All columns of a plan that can be seen, under names without alias."""
    fields = [field for field in plan.schema if "#" not in field.name]
    names = unique_names([short(field.name) for field in fields])
    return [(n, column(f.name, f.type)) for n, f in zip(names, fields, strict=True)]


def seen(plan: Plan) -> Plan:
    """The plan without the columns that only the engine knows; rows are compared without them."""
    kept = [field for field in plan.schema if "#" not in field.name]
    if len(kept) == len(plan.schema):
        return plan
    return Project(plan, tuple((field.name, column(field.name, field.type)) for field in kept))


def _unnest(bench: Bench) -> Plan:
    stage = bench.stage(bench.plan)
    ((text, node),) = list(bench.expressions("list"))[:1] or [("", exp.Null())]
    with about("list"), placed_in(text):
        values = stage.scalar(bench.bound(node, stage))
        if not pa.types.is_list(values.type):
            message = f"the list is {name_of(values.type)}, not an array"
            raise error_at(PlanError, message, node, "name a column that is an array")
    made = (bench.text("element"), bench.text("place"))
    for setting, name in zip(("element", "place"), made, strict=True):
        if name and (name in bench.plan.schema or made.count(name) > 1):
            help = "choose another name"
            raise wrong(f"there is already a column `{name}`", help, setting)
    outer = bench.choice("empty") == "kept"
    return Unnest(bench.plan, values, made[0], made[1] or None, outer, _kept(bench, stage))


def _kept(bench: Bench, stage: PlanStage) -> tuple[str, ...]:
    if bench.choice("keep") != "some":
        return bench.plan.schema.names
    named = [
        bench.column("columns", text, node, stage) for text, node in bench.expressions("columns")
    ]
    return tuple(dict.fromkeys(named))


def _distinct(bench: Bench) -> Plan:
    return Distinct(seen(bench.plan))


def _stream_function(bench: Bench) -> Plan:
    kind = bench.operator.kind.upper()
    try:
        return apply_function(bench.plan, StreamFunction(kind=kind), bench.context)
    except TidemillError as error:
        raise Wrong(error, input=0) from None


OPERATORS = (
    Card(
        "filter",
        "Filter",
        "rows",
        "Keeps the rows for which a condition is true.",
        _filter,
        (
            Setting(
                "condition",
                "Condition",
                "condition",
                "The condition that a row must satisfy.",
                "price > 10",
                required=True,
            ),
        ),
    ),
    Card(
        "project",
        "Project",
        "rows",
        "Selects columns and computes new ones.",
        _project,
        (
            Setting(
                "columns",
                "Columns",
                "columns",
                "The columns of the result; `*` stands for all columns of the input.",
                "item, price * 2 AS doubled",
                required=True,
            ),
        ),
    ),
    Card(
        "unnest",
        "Unnest",
        "rows",
        "Makes a row for each element of a list, beside the columns of its row.",
        _unnest,
        (
            Setting(
                "list",
                "List",
                "columns",
                "The column or expression that has the list.",
                "SPLIT(item, '-')",
                required=True,
            ),
            Setting(
                "element",
                "Element",
                "text",
                "The name of the new column.",
                "part",
                required=True,
            ),
            Setting(
                "place",
                "Place",
                "text",
                "The name of a column with the place in the list, from 1 on; by default none.",
                "place",
            ),
            Setting(
                "empty",
                "Rows without elements",
                "choice",
                "They are dropped, or kept with NULL in the new columns.",
                "dropped",
                default="dropped",
                choices=("dropped", "kept"),
            ),
            Setting(
                "keep",
                "Keep",
                "choice",
                "All columns of the row, or some.",
                "all",
                default="all",
                choices=("all", "some"),
            ),
            Setting("columns", "Columns", "columns", "Those, if only some are kept.", "item"),
        ),
    ),
    Card(
        "distinct",
        "Distinct",
        "rows",
        "Removes duplicates: every row at most once at each instant.",
        _distinct,
    ),
    Card(
        "istream",
        "Rows that come",
        "streams",
        "Gives each row once, at the instant at which it comes (ISTREAM).",
        _stream_function,
    ),
    Card(
        "dstream",
        "Rows that go",
        "streams",
        "Gives each row once, at the last instant at which it holds (DSTREAM).",
        _stream_function,
    ),
    Card(
        "rstream",
        "Rows at every instant",
        "streams",
        "Repeats every row at each instant at which it holds (RSTREAM).",
        _stream_function,
    ),
)
