"""From statements to queries: how an engine plans, with what it knows."""

from __future__ import annotations

import warnings
from collections.abc import Collection

from sqlglot import exp

from tidemill.algebra import Plan, Scan
from tidemill.analyze import Catalog, Planned, SourceInfo, plan_query
from tidemill.engine.costs import Costs
from tidemill.engine.query import Host, Query
from tidemill.engine.statistics import StatisticsStore
from tidemill.errors import UnsupportedError
from tidemill.graph.reoptimize import Choice
from tidemill.optimize import RULES, Optimized, optimized
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.interface import Job, SinkRequest
from tidemill.sql import Statement
from tidemill.timeline import TimeDomain

_APART = frozenset({"prune_columns", "push_projects"})
"""Rules that fit a plan to the columns of one query, so that it shares less with others."""


class Planning:
    """Plans queries over what a catalog knows; `optimizer` names the rules to leave out."""

    def __init__(
        self, catalog: Catalog, statistics: StatisticsStore, optimizer: bool | Collection[str]
    ) -> None:
        self._catalog = catalog
        self._statistics = statistics
        self._rules_off = _rules_off(optimizer)

    def query(self, statement: Statement, tree: exp.Expr, sink: SinkRequest, host: Host) -> Query:
        """The query of a statement, with its plan and its sink."""
        planned = self.plan(tree, statement.source.text)
        known = self._statistics.known.for_plan(planned.plan, planned.hints)
        done, physical = self._physical(planned, known)
        costs = Costs(done.plan, known, self._catalog.functions, planned.domain)
        entries = {name: self._catalog.lookup(name) for name in _scanned(planned)}
        infos = {name: entry for name, entry in entries.items() if isinstance(entry, SourceInfo)}
        job = Job(physical, planned.domain, sink)
        return Query(statement.sql, planned, done, job, infos, host, costs)

    def composed(
        self, plan: Exec, meaning: Plan, domain: TimeDomain | None, text: str, host: Host
    ) -> Query:
        """A query with operators that someone chose; `meaning` is what they compute."""
        infos = {
            node.scan.source: self._catalog.lookup(node.scan.source)
            for node in plan.walk()
            if isinstance(node, SourceExec)
        }
        sources = {name: info for name, info in infos.items() if isinstance(info, SourceInfo)}
        planned = Planned(meaning, domain, (), frozenset(sources))
        known = self._statistics.known.for_plan(meaning, planned.hints)
        costs = Costs(meaning, known, self._catalog.functions, domain)
        done = Optimized(meaning, (), frozenset(rule.name for rule in RULES))
        job = Job(plan, domain, SinkRequest())
        return Query(text, planned, done, job, sources, host, costs, is_fixed=True)

    def _physical(
        self, planned: Planned, known: Statistics, without: frozenset[str] = frozenset()
    ) -> tuple[Optimized, Exec]:
        """An optimized plan and its operators, made with what is known."""
        domain = planned.domain or TimeDomain.TICKS
        functions, off = self._catalog.functions, self._rules_off | without
        done = optimized(planned.plan, known, off, planned.hints, domain, functions)
        return done, lower(done.plan, functions)

    def choose(self, query: Query, news: Statistics) -> Choice:
        """The plan of a query with as much in common with others as the optimizer can leave it."""
        planned = query.planned
        known = self._statistics.with_news(news).for_plan(planned.plan, planned.hints)
        if query.is_fixed:
            logical, physical = planned.plan, query.job.plan
        else:
            done, physical = self._physical(planned, known, _APART)
            logical = done.plan
        estimator = Estimator(known, planned.domain or TimeDomain.TICKS)
        return Choice(logical, physical, estimator, self._catalog.functions)

    def plan(self, tree: exp.Expr, text: str) -> Planned:
        """What a tree means; the planner's warnings are given to whoever asked."""
        planned = plan_query(tree, text, self._catalog)
        for warning in planned.warnings:
            warnings.warn(warning, stacklevel=5)
        return planned


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


def _scanned(planned: Planned) -> set[str]:
    return {node.source for node in planned.plan.walk() if isinstance(node, Scan)}
