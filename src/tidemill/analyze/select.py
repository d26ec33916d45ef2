"""SELECT: one query block, from its rows to its outputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass

from sqlglot import exp

from tidemill.algebra import Distinct, column
from tidemill.analyze.aggregation import GroupedStage, Grouping
from tidemill.analyze.common_tables import common_tables
from tidemill.analyze.context import Context
from tidemill.analyze.correlation import Link
from tidemill.analyze.first_last import with_first_and_last
from tidemill.analyze.from_clause import plan_rows
from tidemill.analyze.functions import check_functions, find_aggregate
from tidemill.analyze.generators import is_generator, with_values
from tidemill.analyze.grouping_sets import grouping_sets, one_query_each
from tidemill.analyze.ordering import Term, first_rows, order_terms, ordinal
from tidemill.analyze.over import find_over, keep_used, plan_over
from tidemill.analyze.over_clause import named_windows, read_over
from tidemill.analyze.query import plan_tree
from tidemill.analyze.read_hints import read_hints
from tidemill.analyze.relation import Output, PlannedRelation, unique_names
from tidemill.analyze.scope import Scope
from tidemill.analyze.select_list import Selected, count_whole_rows, select_list
from tidemill.analyze.selected_lists import unnest_selected
from tidemill.analyze.shedding import bound_memory
from tidemill.analyze.single_instants import warn_of_groups
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.subqueries import attach, filter_with_subqueries
from tidemill.analyze.trees import all_of, conjuncts_of, has_subquery, rewrite
from tidemill.analyze.window_calls import with_window_tables
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at
from tidemill.sql.elsewhere import CLAUSES

_CLAUSES = (
    *("with_", "expressions", "from_", "joins", "laterals", "where", "group", "having"),
    *("windows", "qualify"),
    *("distinct", "order", "limit", "offset", "hint", "shed", "approximate", "absent"),
)
_GROUPINGS = ("expressions", "all", "rollup", "cube", "grouping_sets")
_LABELS = {
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "locks": "FOR UPDATE",
}


@plan_tree.register
def plan_select(tree: exp.Select, context: Context, link: Link | None) -> PlannedRelation:
    """Plan a SELECT."""
    _refuse_clauses(tree)
    tree = with_window_tables(tree, context.catalog)
    if (sets := grouping_sets(tree)) is not None:
        _refuse_windows(tree)
        return plan_tree(one_query_each(tree, sets), context, link)
    with common_tables(tree, context, link):
        return _Block(with_first_and_last(tree, context), context, link).plan()


@dataclass
class _Block:
    select: exp.Select
    context: Context
    link: Link | None

    def __post_init__(self) -> None:
        self._attached: dict[exp.Expr, exp.Expr] = {}
        self._windows = named_windows(self.select)
        self._qualify: list[exp.Expr] = []
        self.selected: list[Selected] = []

    def plan(self) -> PlannedRelation:
        """The block as a relation."""
        rows = plan_rows(self.select, self.context, self.link)
        self.stage = rows.stage
        bound_memory(self.stage, self.select)
        read_hints(self.select, self.stage)
        for node in rows.pending:
            filter_with_subqueries(self.stage, self.stage.bind(node, "WHERE"), "WHERE")
        with self.link.direct() if self.link else nullcontext():
            for each in select_list(self.select, self.stage.scope, self._output):
                self.selected.append(each)
        terms = [Term(self._order_node(each.this), each) for each in order_terms(self.select)]
        if (qualify := self.select.args.get("qualify")) is not None:
            self._qualify = conjuncts_of(self._with_aliases(qualify.this, first=False))
        grouping = self._grouping(terms)
        if grouping is not None:
            terms = self._group(grouping, terms)
        terms = self._unnest(self._over(terms))
        # First, because a subquery in ORDER BY adds a column to the plan of the relation.
        terms = [Term(self._plain(term.node), term.ordered) for term in terms]
        relation = self._relation(grouping, tuple(rows.moved))
        if self.select.args.get("distinct"):
            relation, terms = self._distinct(relation, terms)
        stage = PlanStage(self.context, relation.plan, self.stage.scope)
        return first_rows(relation, self.select, terms, self.context, stage.scalar)

    def _over(self, terms: list[Term]) -> list[Term]:
        """Go on with rows that have the values of functions over rows; QUALIFY filters them."""
        nodes = [*(each.node for each in self.selected), *(term.node for term in terms)]
        functions = find_over([*nodes, *self._qualify])
        if self._qualify and not functions:
            help = "write the condition in WHERE or HAVING"
            message = "QUALIFY is for functions with OVER, and there is none"
            raise error_at(PlanError, message, self.select.args["qualify"], help)
        if not functions:
            return terms
        warn_of_groups(self.stage)
        carried = self.link.carried if self.link else ()
        keep_used(self.stage, [*nodes, *self._qualify], carried)
        known = plan_over(self.stage, functions, lambda node: self._plain(node), carried)

        def changed(node: exp.Expr) -> exp.Expr:
            return rewrite(node, lambda part: known[part].copy() if part in known else None)

        for each in self.selected:
            each.node = changed(each.node)
        conditions = [changed(node) for node in self._qualify]
        self.stage.filter(all_of(c for c in conditions if not has_subquery(c)), "QUALIFY")
        for node in conditions:
            if has_subquery(node):
                filter_with_subqueries(self.stage, node, "QUALIFY")
        return [Term(changed(term.node), term.ordered) for term in terms]

    def _unnest(self, terms: list[Term]) -> list[Term]:
        """Go on with the rows that a generator of the select list makes."""
        if (made := unnest_selected(self.stage, self.selected)) is None:
            return terms
        self.stage.plan, self.selected, known = made
        return [Term(rewrite(t.node, lambda part: known.get(part)), t.ordered) for t in terms]

    def _relation(self, grouping: Grouping | None, moved: tuple[exp.Expr, ...]) -> PlannedRelation:
        for each in self.selected:
            each.node = self._plain(each.node)
        outputs = tuple(
            Output(each.name, self.stage.scalar(each.node), each.origin) for each in self.selected
        )
        single = grouping is not None and not grouping.keys
        return PlannedRelation(
            self.stage.plan,
            outputs,
            self.link.carried if self.link else (),
            moved,
            dict(grouping.calls) if single and grouping else None,
            has_one_row=single,
            is_windowed=any(item.is_windowed for item in self.stage.scope.items),
        )

    def _plain(self, node: exp.Expr) -> exp.Expr:
        """The expression with a column in the place of every subquery, the same each time."""
        if not has_subquery(node):
            return node
        if node not in self._attached:
            self._attached[node] = attach(self.stage, node)
        return self._attached[node].copy()

    def _output(self, node: exp.Expr) -> exp.Expr:
        """An expression of the select list, which may use the names of those before it."""
        if is_generator(node):
            return with_values(node, lambda values: self._with_aliases(values, first=False))
        return self._with_aliases(node, first=False)

    def _order_node(self, node: exp.Expr) -> exp.Expr:
        """Names in ORDER BY are looked for in the result first, then in FROM."""
        if (index := ordinal(node, len(self.selected))) is not None:
            return self.selected[index].node.copy()
        return self._with_aliases(node, first=True)

    def _with_aliases(self, node: exp.Expr, first: bool) -> exp.Expr:
        """Bind an expression that may use the names of the select list."""
        node = count_whole_rows(
            read_over(node, self._windows, self.context.catalog), self.stage.scope
        )
        check_functions(node, self.context.catalog)
        # A column of the query around comes last, after the names of the select list.
        own = Scope(self.stage.scope.items, None, self.stage.scope.merged)

        def change(part: exp.Expr) -> exp.Expr | None:
            if not isinstance(part, exp.Column):
                return None
            alias = self._alias(part)
            if alias is not None and (first or own.find(part) is None):
                return alias.node.copy()
            return self.stage.scope.resolve(part)

        return rewrite(node, change)

    def _alias(self, node: exp.Column) -> Selected | None:
        if node.table:
            return None
        wanted = node.name.casefold()
        return next((each for each in self.selected if each.name.casefold() == wanted), None)

    def _grouping(self, terms: list[Term]) -> Grouping | None:
        """The grouping that the block needs, if it needs one."""
        nodes = [each.node for each in self.selected] + [term.node for term in terms]
        nodes += self._qualify
        having, group = self.select.args.get("having"), self.select.args.get("group")
        calls = any(find_aggregate(node, self.context.catalog) for node in nodes)
        if group is None and having is None and not calls:
            return None
        carried = self.link.carried if self.link else ()
        grouping = Grouping(self.stage, lambda node: self._plain(node), carried)
        for node in self._group_nodes(group):
            grouping.add_key(self._key(node))
        for node in self.select.args.get("absent") or ():
            grouping.add_absent(self._key(node))
        if calls or having:
            warn_of_groups(self.stage)
        return grouping

    def _group_nodes(self, group: exp.Group | None) -> list[exp.Expr]:
        if group is None or not group.args.get("all"):
            return list(group.expressions) if group is not None else []
        outputs = enumerate(self.selected, 1)
        plain = (n for n, each in outputs if not find_aggregate(each.node, self.context.catalog))
        return [exp.Literal.number(number) for number in plain]

    def _key(self, node: exp.Expr) -> exp.Expr:
        index = ordinal(node, len(self.selected))
        bound = (
            self.selected[index].node
            if index is not None
            else self._with_aliases(node, first=False)
        )
        if (call := find_aggregate(bound, self.context.catalog)) is not None:
            help = "group by a column, or aggregate in a subquery in FROM"
            raise error_at(PlanError, "GROUP BY cannot hold an aggregate", call, help)
        _refuse_over(bound, "GROUP BY")
        return bound

    def _group(self, grouping: Grouping, terms: list[Term]) -> list[Term]:
        """Go on with groups instead of rows."""
        having = self.select.args.get("having")
        condition = self._with_aliases(having.this, first=False) if having else None
        _refuse_over(condition, "HAVING")
        condition = grouping.translate(condition) if condition is not None else None
        for each in self.selected:
            each.node = grouping.translate(each.node)
        terms = [Term(grouping.translate(term.node), term.ordered) for term in terms]
        self._qualify = [grouping.translate(node) for node in self._qualify]
        outer = self.stage.outer
        plan, scope = grouping.build(), self.stage.scope
        self.stage = GroupedStage(self.context, plan, scope, outer, grouping)
        conditions = conjuncts_of(condition)
        self.stage.filter(all_of(c for c in conditions if not has_subquery(c)), "HAVING")
        for node in conditions:
            if has_subquery(node):
                filter_with_subqueries(self.stage, node, "HAVING")
        return terms

    def _distinct(
        self, relation: PlannedRelation, terms: list[Term]
    ) -> tuple[PlannedRelation, list[Term]]:
        names = unique_names(relation.names)
        known = {
            output.scalar.node: name for name, output in zip(names, relation.outputs, strict=True)
        }
        for term in terms:
            if term.node not in known:
                message = "with DISTINCT, ORDER BY takes columns of the select list"
                raise error_at(PlanError, message, term.ordered, "add it to the select list")
        plan = Distinct(relation.close(names))
        outputs = tuple(
            Output(o.name, column(name, o.scalar.type), o.node)
            for name, o in zip(names, relation.outputs, strict=True)
        )
        distinct = PlannedRelation(plan, outputs, relation.carried, relation.moved)
        new = [
            Term(column(known[t.node], plan.schema[known[t.node]]).node, t.ordered) for t in terms
        ]
        return distinct, new


def _refuse_over(node: exp.Expr | None, clause: str) -> None:
    for found in find_over([] if node is None else [node]):
        message = f"OVER is computed after {clause}"
        help = "write QUALIFY, or compute it in a subquery in FROM"
        raise error_at(PlanError, message, found, help)


def _refuse_clauses(select: exp.Select) -> None:
    for name, node in _clauses(select):
        label = _LABELS.get(name, name.replace("_", " ").upper())
        help = CLAUSES.get(name, "remove the clause")
        raise error_at(UnsupportedError, f"{label} is not supported", node, help)
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        help = "write QUALIFY ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) = 1"
        raise error_at(UnsupportedError, "DISTINCT ON is not supported", distinct, help)


def _refuse_windows(select: exp.Select) -> None:
    """Each grouping set is a query of its own, but OVER would see the rows of all."""
    window = next(
        (found for item in select.expressions if (found := item.find(exp.Window)) is not None), None
    )
    if window is not None:
        help = "group in a subquery in FROM, and use OVER outside"
        raise error_at(UnsupportedError, "OVER beside grouping sets is not supported", window, help)


def _clauses(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    for name, value in select.args.items():
        if value and name not in _CLAUSES:
            node = value[0] if isinstance(value, list) else value
            yield name, node if isinstance(node, exp.Expr) else select
    group = select.args.get("group")
    for name, value in group.args.items() if group is not None else ():
        if value and name not in _GROUPINGS:
            yield name, value[0] if isinstance(value, list) else select
