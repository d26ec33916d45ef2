"""Functions over rows: the plan that computes what OVER asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import AggregateCall, OverCall, OverRows, Plan, Project, SortKey, column
from tidemill.algebra.aggregates import NotAggregable, result_type
from tidemill.algebra.over_rows import RANKS, SHIFTS, RowFrame
from tidemill.algebra.types import name_of
from tidemill.analyze.frames import fitting
from tidemill.analyze.over_clause import OverExpr
from tidemill.analyze.stage import PlanStage, with_column
from tidemill.analyze.trees import cast, columns_of, has_subquery, outside_subqueries, placed
from tidemill.errors import PlanError
from tidemill.sql import error_at

Known = dict[exp.Expr, exp.Expr]
_Window = tuple[tuple[str, ...], tuple[SortKey, ...]]
_HAVE_DISTANCES = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_timestamp,
    pa.types.is_date,
)


def find_over(nodes: Iterable[exp.Expr]) -> list[OverExpr]:
    """The functions over rows in expressions, each once."""
    found = (part for node in nodes for part in outside_subqueries(node))
    return list(dict.fromkeys(part for part in found if isinstance(part, OverExpr)))


def keep_used(stage: PlanStage, nodes: Sequence[exp.Expr], carried: tuple[str, ...]) -> None:
    """Go on with the columns that expressions use: by these, and no others, ties are ordered.

    So an operator that keeps rows need not keep columns that are not used.
    """
    if any(map(has_subquery, nodes)):
        return  # which may mention any column
    used = {*carried, *(name for node in nodes for name in columns_of(node))}
    fields = [each for each in stage.plan.schema if each.name in used]
    if 0 < len(fields) < len(stage.plan.schema):
        items = tuple((each.name, column(each.name, each.type)) for each in fields)
        stage.plan = Project(stage.plan, items)


def plan_over(
    stage: PlanStage,
    functions: Sequence[OverExpr],
    prepare: Callable[[exp.Expr], exp.Expr],
    carried: tuple[str, ...],
) -> Known:
    """Add columns with the values of functions to the plan of a stage; which column is which."""
    planning = _OverPlanning(stage, prepare, carried)
    names = {node: planning.add(node) for node in functions}
    planning.finish()
    return {node: _answer(node, name, stage) for node, name in names.items()}


def over_plan(stage: PlanStage, functions: Mapping[str, exp.Expr]) -> Plan:
    """The plan of a stage with functions over rows, under names that are given."""
    planning = _OverPlanning(stage, lambda node: node, ())
    for name, node in functions.items():
        assert isinstance(node, OverExpr)
        planning.add(node, name)
    planning.finish()
    return stage.plan


def _answer(node: OverExpr, name: str, stage: PlanStage) -> exp.Expr:
    """The column of a function; a list of no values is empty, not NULL."""
    found = placed(name, node)
    if node.args["function"] != "COLLECT_LIST":
        return found
    empty = cast(exp.Array(expressions=[]), stage.schema[name])
    return exp.Coalesce(this=found, expressions=[empty])


@dataclass
class _OverPlanning:
    stage: PlanStage
    prepare: Callable[[exp.Expr], exp.Expr]
    carried: tuple[str, ...]
    _windows: dict[_Window, list[OverCall]] = field(default_factory=dict)
    _computed: dict[exp.Expr, str] = field(default_factory=dict)

    def add(self, node: OverExpr, name: str | None = None) -> str:
        """Take a function; the column that will have its values."""
        by = tuple(dict.fromkeys((*self.carried, *map(self._column, node.args["partition_by"]))))
        order = tuple(self._key(term) for term in node.args["order"])
        call = self._call(node, order, name)
        self._windows.setdefault((by, order), []).append(call)
        return call.name

    def finish(self) -> None:
        """Put the functions into the plan: those over the same window together."""
        for (by, order), calls in self._windows.items():
            self.stage.plan = OverRows(self.stage.plan, by, order, tuple(calls))

    def _column(self, node: exp.Expr) -> str:
        """The column that has an expression; one is added, if it is not a column."""
        node = self.prepare(node.unnest())
        if isinstance(node, exp.Column):
            return str(node.name)
        if node not in self._computed:
            name = self._computed[node] = self.stage.context.fresh("arg")
            self.stage.plan = with_column(self.stage.plan, name, self.stage.scalar(node))
        return self._computed[node]

    def _key(self, term: exp.Ordered) -> SortKey:
        column = self._column(term.this)
        descending = bool(term.args.get("desc"))
        return SortKey(column, descending, bool(term.args.get("nulls_first")))

    def _call(self, node: OverExpr, order: tuple[SortKey, ...], wanted: str | None) -> OverCall:
        function = node.args["function"]
        name = wanted or self.stage.context.fresh(function.lower().split("_")[0])
        options = tuple(node.args.get("options") or ())
        if function in RANKS:
            return OverCall(name, function, (), RANKS[function], options=options)
        arguments = tuple(map(self._column, self._arguments(node)))
        types = [self.stage.schema[each] for each in arguments]
        frame = self._frame(node, order)
        ignores = bool(node.args.get("ignores_nulls"))
        if not node.args.get("aggregates"):
            frame = RowFrame(end=None) if function in SHIFTS else frame
            return OverCall(name, function, arguments, types[0], frame, options, ignores)
        call = self._aggregate(node, name, arguments)
        return OverCall(name, call.function, arguments, call.type, frame, options, False, call)

    def _arguments(self, node: OverExpr) -> list[exp.Expr]:
        """The arguments; a default of LAG and LEAD in the type of the value."""
        if node.args["function"] not in SHIFTS or len(node.expressions) < 2:
            return list(node.expressions)
        value, default = (self.prepare(part) for part in node.expressions)
        wanted = self.stage.scalar(value).type
        same = self.stage.scalar(default).type == wanted
        return [value, default if same else cast(default, wanted)]

    def _aggregate(self, node: OverExpr, name: str, arguments: tuple[str, ...]) -> AggregateCall:
        function, options = node.args["function"], tuple(node.args.get("options") or ())
        argument = arguments[0] if arguments else None
        found = None if argument is None else self.stage.schema[argument]
        user = self.stage.context.catalog.aggregates.get(function.lower())
        if user is not None:
            return AggregateCall(name, user.name, argument, user.type, user=user)
        try:
            kind = result_type(function, found, options)
        except (NotAggregable, AssertionError):
            shown = "`*`" if found is None else name_of(found)
            message = f"{function} does not take {shown}"
            raise error_at(PlanError, message, node, "convert it with CAST, or COUNT it") from None
        return AggregateCall(name, function, argument, kind, options=options)

    def _frame(self, node: OverExpr, order: tuple[SortKey, ...]) -> RowFrame:
        """The frame, checked: RANGE with a distance needs one key that has distances."""
        frame = node.frame
        if frame.unit == "GROUPS" and not order:
            raise error_at(PlanError, "GROUPS needs ORDER BY", node, "add ORDER BY to the window")
        distances = [each for each in (frame.start, frame.end) if each not in (None, 0)]
        if frame.unit != "RANGE" or not distances:
            return frame
        kind = self.stage.schema[order[0].column] if len(order) == 1 else None
        if kind is None or not any(has(kind) for has in _HAVE_DISTANCES):
            message = "RANGE with a distance needs ORDER BY one number or time"
            help = "sort by one column, or write ROWS; CAST a DECIMAL to DOUBLE"
            raise error_at(PlanError, message, node, help)
        return fitting(frame, node.args.get("distances") or "", kind, node)
