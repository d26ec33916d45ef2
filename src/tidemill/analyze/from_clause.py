"""FROM and WHERE: the rows of a query block."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Join, Plan
from tidemill.algebra.unnest import one_row
from tidemill.analyze.context import Context
from tidemill.analyze.correlation import Link
from tidemill.analyze.generated import as_join, plan_generator
from tidemill.analyze.generators import Elements, is_generator
from tidemill.analyze.joins import (
    Entry,
    Joiner,
    Step,
    hides_right,
    kind_of,
    merge,
    take_equalities,
)
from tidemill.analyze.lateral import plan_lateral
from tidemill.analyze.objects import plan_objects
from tidemill.analyze.references import References, carried_matches
from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.single_instants import warn_of_joins
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import all_of, columns_of, conjuncts_of, has_subquery
from tidemill.analyze.versions import without_arrival
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import ObjectsClause, error_at


@dataclass
class BlockRows:
    """The rows that a block works on.

    `pending` are the conditions with subqueries, which come after the others; `moved` are those
    that belong into the join with the query around.
    """

    stage: PlanStage
    pending: list[exp.Expr] = field(default_factory=list)
    moved: list[exp.Expr] = field(default_factory=list)


def plan_rows(select: exp.Select, context: Context, link: Link | None) -> BlockRows:
    """Plan FROM and the conditions of WHERE that have no subquery."""
    chain = _Chain(References(context, select, link))
    joins = [*(select.args.get("joins") or []), *map(as_join, select.args.get("laterals") or [])]
    if (source := select.args.get("from_")) is None:
        steps = chain.nothing(select)
    else:
        steps = chain.steps(source.this, joins)
    warn_of_joins(chain.stage, select)
    pool, pending = _where(select, chain.stage, link)
    stage = chain.stage
    stage.plan = chain.fold(steps, pool)
    if link is not None and link.domain is not None:
        if not chain.uses_domain:
            _join_domain(stage, link, pool)
    elif link is not None:
        stage.outer = link.stage.schema
    return _filtered(stage, pool, pending)


@dataclass
class _Chain:
    """The entries of FROM, joined from left to right."""

    references: References
    deferred: list[exp.Expr] = field(default_factory=list)
    uses_domain: bool = False  # a list is made of columns of the query around

    def nothing(self, select: exp.Select) -> list[Step]:
        """The one row without columns that a query without FROM reads: it holds for ever."""
        help = "read a stream: SELECT ... FROM bid, or spell rows out: FROM VALUES (1), (2)"
        if not select.expressions:
            raise error_at(PlanError, "the query selects nothing", select, help)
        if select.is_star or select.args.get("laterals"):
            raise error_at(PlanError, "the query has no FROM", select.expressions[0], help)
        context = self.references.context
        plan = one_row(context.fresh("one"))
        self.stage = PlanStage(context, plan, Scope([], self.references.link))
        return [Step(Entry(plan, [], {}), exp.Join(), [])]

    def steps(self, first: exp.Expr, joins: list[exp.Join]) -> list[Step]:
        """Plan every entry by itself, and find what they are called together."""
        alone = exp.Join(this=first.copy())
        nothing = Entry(one_row(self.references.context.fresh("one")), [], {})
        steps = (
            [self._generated(alone, nothing)]
            if is_generator(first)
            else [Step(self._entry(first), alone, [])]
        )
        whole = Entry(steps[0].entry.plan, [*steps[0].entry.items], {**steps[0].entry.merged})
        for join in joins:
            step = self._step(without_arrival(join, whole.items), whole)
            steps.append(step)
            equal, merged = merge(whole, step.entry, step.join)
            step.equal += equal
            if hides_right(step.join):
                items = [*whole.items, *step.entry.items]
                names = {**whole.merged, **step.entry.merged, **merged}
                step.scope = Scope(items, self.references.link, names)
                continue
            whole.items += step.entry.items
            whole.merged.update({**step.entry.merged, **merged})
        _check_aliases([item for step in steps for item in step.entry.items])
        _check_carried(whole.items, steps)
        scope = Scope(whole.items, self.references.link, whole.merged)
        self.stage = PlanStage(self.references.context, whole.plan, scope)
        return steps

    def _step(self, join: exp.Join, before: Entry) -> Step:
        if is_generator(join.this):
            return self._generated(join, before)
        if isinstance(join.this, exp.Lateral):
            entry, equal = plan_lateral(self.references, join, before)
            return Step(entry, join, equal)
        return Step(self._entry(join.this), join, [])

    def _generated(self, join: exp.Join, before: Entry) -> Step:
        step = plan_generator(self.references, join, before)
        assert step.elements is not None
        self.uses_domain = self.uses_domain or bool(self._of_domain(step.elements))
        return step

    def _of_domain(self, elements: Elements) -> set[str]:
        """The columns of the query around that a list is made of."""
        link = self.references.link
        carried = () if link is None or link.domain is None else link.domain.plan.schema.names
        return set(carried) & elements.unnest.values.columns

    def _entry(self, node: exp.Expr) -> Entry:
        inner = node.this if isinstance(node, exp.Subquery) else node
        if isinstance(inner, exp.Table) and isinstance(inner.this, ObjectsClause):
            return self._objects(inner)
        if not isinstance(inner, exp.Table) or not inner.args.get("joins"):
            item = self.references.item(node)
            return Entry(item.plan, [item], {})
        if node.alias:
            help = "write (SELECT ... FROM ... JOIN ...) AS alias"
            raise error_at(UnsupportedError, "a join in parentheses has no alias", node, help)
        return self._nested(inner)

    def _objects(self, table: exp.Table) -> Entry:
        items = [self.references.item(stream) for stream in table.this.expressions]
        return plan_objects(table, items, self.references.context, self.references.select)

    def _nested(self, table: exp.Table) -> Entry:
        first = table.copy()
        first.set("joins", None)
        chain = _Chain(self.references, self.deferred)
        steps = chain.steps(first, table.args["joins"])
        plan = chain.fold(steps, self.deferred)
        return Entry(plan, list(chain.stage.scope.items), chain.stage.scope.merged)

    def fold(self, steps: list[Step], pool: list[exp.Expr]) -> Plan:
        """Join the entries, with equalities from the pool where they fit."""
        pool += self.deferred if pool is not self.deferred else []
        joiner = Joiner(self.stage, pool.append)
        plan = self._first(steps[0])
        for number, step in enumerate(steps[1:], 1):
            # Below a later RIGHT or FULL JOIN, the WHERE would come too early.
            later = {kind_of(after.join) for after in steps[number:]}
            early = _is_inner(step.join) and step.elements is None and not later & {"RIGHT", "FULL"}
            right = step.entry.plan.schema
            extra = take_equalities(pool, plan.schema, right) if early else []
            plan = joiner.join(plan, step, extra)
        return plan

    def _first(self, step: Step) -> Plan:
        """The plan of the first entry; of a query around too, if lists come from there."""
        link = self.references.link
        if not self.uses_domain or link is None or link.domain is None:
            return step.entry.plan
        around = link.domain.plan
        if step.elements is not None:
            return step.elements.over(around)
        return Join(step.entry.plan, around, None)


def _is_inner(join: exp.Join) -> bool:
    return kind_of(join) == "INNER"


def _check_aliases(items: list[Item]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.alias.casefold() in seen:
            message = f"`{item.alias}` appears twice in FROM"
            help = f"give one an alias: {item.node.name or item.alias} AS other_name"
            raise error_at(PlanError, message, item.node, help)
        seen.add(item.alias.casefold())


def _check_carried(items: list[Item], steps: list[Step]) -> None:
    outer = any(not _is_inner(step.join) for step in steps)
    for item in items:
        if item.carried and outer:
            message = "beside an outer join, a subquery cannot mention columns of the query around"
            raise error_at(UnsupportedError, message, item.node, "use inner joins")


def _where(
    select: exp.Select, stage: PlanStage, link: Link | None
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    where = select.args.get("where")
    conditions = conjuncts_of(where.this if where else None)
    pending = [node for node in conditions if has_subquery(node)]
    plain = [node for node in conditions if not has_subquery(node)]
    if link is None:
        return [stage.bind(node, "WHERE") for node in plain], pending
    with link.direct():
        pool = [stage.bind(node, "WHERE") for node in plain]
    for item in stage.scope.items:
        if item.carried:
            pool += carried_matches(item, link)
    return pool, pending


def _join_domain(stage: PlanStage, link: Link, pool: list[exp.Expr]) -> None:
    assert link.domain is not None
    domain = link.domain.plan
    condition = all_of(take_equalities(pool, stage.plan.schema, domain.schema))
    around = PlanStage(stage.context, stage.plan, stage.scope, domain.schema)
    scalar = around.condition(condition, "WHERE") if condition is not None else None
    stage.plan = Join(stage.plan, domain, scalar)


def _filtered(stage: PlanStage, pool: list[exp.Expr], pending: list[exp.Expr]) -> BlockRows:
    ready = set(stage.plan.schema.names)
    here = [node for node in pool if columns_of(node) <= ready]
    moved = [node for node in pool if not columns_of(node) <= ready]
    stage.filter(all_of(here), "WHERE")
    return BlockRows(stage, pending, moved)
