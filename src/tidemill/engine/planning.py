"""From statements to queries: how an engine plans, with what it knows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial

from sqlglot import exp

from tidemill.algebra import Plan, Scan, Schema
from tidemill.analyze import Planned, plan_query
from tidemill.catalog import Catalog, SourceInfo
from tidemill.connectors.sinks import SinkRequest
from tidemill.engine.costs import Costs
from tidemill.engine.query import Host, Query, QueryPlan
from tidemill.engine.statistics import StatisticsStore
from tidemill.errors import UnsupportedError
from tidemill.graph.reoptimize import Choice
from tidemill.optimize import RULES, Optimized, optimized
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.rules.prune_columns import narrow_scans
from tidemill.optimize.sharing import fenced, unfenced
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.sql import CreateDerived, Statement
from tidemill.timeline import TimeDomain

_PRUNE = "prune_columns"
_APART = frozenset({_PRUNE, "push_projects"})
"""Rules that fit a plan to the columns of one query, so that it shares less with others."""


class Planning:
    """Plans queries over what a catalog knows; `optimizer` names the rules to leave out.

    `read` tells which columns of a source queries of the running graph read, and `running` what
    one of its named queries means, with the plan that runs for that.
    """

    def __init__(
        self,
        catalog: Catalog,
        statistics: StatisticsStore,
        optimizer: bool | Collection[str],
        read: Callable[[str], Iterable[Schema]] = lambda source: (),
        running: Callable[[str], tuple[Plan, Plan] | None] = lambda name: None,
    ) -> None:
        self._read = read
        self._running = running
        self.catalog = self._catalog = catalog
        self._statistics = statistics
        self._rules_off = _rules_off(optimizer)

    def apart(self) -> Planning:
        """A planning with what is known now: it can go on while others change what there is."""
        catalog = self._catalog.copy()
        read = {name: tuple(self._read(name)) for name in catalog.names}
        statistics = self._statistics.copy(catalog)
        columns = lambda name: read.get(name, ())  # noqa: E731
        return Planning(catalog, statistics, self._rules_off, columns, self._running)

    def query(self, statement: Statement, tree: exp.Expr, sink: SinkRequest, host: Host) -> Query:
        """The query of a statement, with its plan and its sink."""
        is_shown = not isinstance(statement, CreateDerived)
        planned = self.plan(tree, statement.source.text, is_shown)
        infos = self._infos(node.source for node in planned.plan.walk() if isinstance(node, Scan))
        sink = replace(sink, order=planned.order)
        return Query(statement.sql, planned, sink, infos, host, partial(self._laid, planned))

    def adopted(self, query: Query, statement: Statement, host: Host) -> Query:
        """A query that was planned apart, as that of a statement here."""
        if not query.is_fixed:
            return query.planned_as(statement.sql, partial(self._laid, query.planned))
        meaning, domain = query.planned.plan, query.planned.domain
        return self.composed(query.plan.physical, meaning, domain, query.sql, host)

    def again(self, query: Query) -> Query:
        """A query, planned with what is known now."""
        return query if query.is_fixed else query.planned_now(partial(self._laid, query.planned))

    def composed(
        self, plan: Exec, meaning: Plan, domain: TimeDomain | None, text: str, host: Host
    ) -> Query:
        """A query with operators that someone chose; `meaning` is what they compute."""
        leaves = (node for node in plan.walk() if isinstance(node, SourceExec))
        infos = self._infos(leaf.scan.source for leaf in leaves)
        planned = Planned(meaning, domain, (), frozenset(infos))
        done = Optimized(meaning, (), frozenset(rule.name for rule in RULES))

        def laid(shares: bool, news: Statistics) -> QueryPlan:
            return self._with_costs(planned, done, plan, self._known(planned, news))

        return Query(text, planned, SinkRequest(), infos, host, laid, is_fixed=True)

    def _infos(self, names: Iterable[str]) -> dict[str, SourceInfo]:
        entries = {name: self._catalog.lookup(name) for name in names}
        return {name: entry for name, entry in entries.items() if isinstance(entry, SourceInfo)}

    def _known(self, planned: Planned, news: Statistics) -> Statistics:
        return self._statistics.with_news(news).for_plan(planned.plan, planned.hints)

    def _laid(self, planned: Planned, shares: bool, news: Statistics) -> QueryPlan:
        """A plan for a query alone, or one with as much in common with others as possible."""
        known, functions = self._known(planned, news), self._catalog.functions
        domain = planned.domain or TimeDomain.TICKS
        off = self._rules_off | (_APART if shares else frozenset())
        plan = fenced(planned.plan, self._others(planned)) if shares else planned.plan
        done = _whole(optimized(plan, known, off, planned.hints, domain, functions))
        if shares and _PRUNE not in self._rules_off:
            done = self._narrowed(done)
        return self._with_costs(planned, done, lower(done.plan, functions), known)

    def _others(self, planned: Planned) -> dict[Plan, Plan]:
        """What the running queries mean that a query reads, and how they run."""
        found = map(self._running, planned.depends_on)
        return dict(pair for pair in found if pair is not None)

    def _narrowed(self, done: Optimized) -> Optimized:
        """Of the rule that prunes columns, only what does not tell plans apart."""
        narrow = narrow_scans(done.plan, self._columns)
        if narrow == done.plan:
            return done
        steps = (*done.steps, (_PRUNE, narrow))
        return replace(done, steps=steps, off=done.off - {_PRUNE})

    def _columns(self, scan: Scan, needed: Schema) -> Schema:
        """The columns to read: those of a scan that runs, if it has them all."""
        running = (each for each in self._read(scan.source) if set(needed) <= set(each))
        return min(running, key=len, default=needed)

    def _with_costs(
        self, planned: Planned, done: Optimized, physical: Exec, known: Statistics
    ) -> QueryPlan:
        functions = self._catalog.functions
        estimator = Estimator(known, planned.domain or TimeDomain.TICKS)
        choice = Choice(done.plan, physical, estimator, functions)

        def costs() -> Costs:
            now = self._known(planned, Statistics())
            return Costs(done.plan, now, functions, planned.domain)

        return QueryPlan(done, choice, costs, lambda: self._statistics.known)

    def plan(self, tree: exp.Expr, text: str, is_shown: bool = True) -> Planned:
        """What a tree means; the planner's warnings are given to whoever asked."""
        planned = plan_query(tree, text, self._catalog, is_shown)
        for warning in planned.warnings:
            warnings.warn(warning, stacklevel=5)
        return planned


def _whole(done: Optimized) -> Optimized:
    """Plans with the answers of running queries in their places."""
    steps = tuple((name, unfenced(plan)) for name, plan in done.steps)
    return replace(done, before=unfenced(done.before), steps=steps)


def _rules_off(optimizer: bool | Collection[str]) -> frozenset[str]:
    """The rules that are not used."""
    known = [rule.name for rule in RULES]
    if isinstance(optimizer, bool):
        return frozenset() if optimizer else frozenset(known)
    for name in optimizer:
        if name not in known:
            help = f"rules: {', '.join(known)}"
            raise UnsupportedError(f"there is no rule `{name}` to leave out", help=help)
    return frozenset(optimizer)
