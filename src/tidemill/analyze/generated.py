"""Entries of FROM that make rows of a list: UNNEST, LATERAL VIEW and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from tidemill.algebra import Join, Plan, Schema
from tidemill.analyze.generators import Generator, elements_of, read_generator
from tidemill.analyze.joins import Entry, Step, kind_of
from tidemill.analyze.references import References
from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.stage import PlanStage
from tidemill.errors import UnsupportedError
from tidemill.sql import error_at


def as_join(view: exp.Expr) -> exp.Join:
    """LATERAL VIEW as a join with what comes before."""
    if view.args.get("outer"):
        return exp.Join(this=view.copy(), side="LEFT", on=exp.true())
    return exp.Join(this=view.copy(), kind="CROSS")


def plan_generator(references: References, join: exp.Join, before: Entry) -> Step:
    """The step that gives every row of the entries before its elements."""
    generator = _outer(read_generator(join.this), join)
    stage = _seeing(references, before)
    values = stage.bind(generator.values, "FROM")
    alias, prefix = references.named(generator.alias)
    elements = elements_of(generator, values, stage, prefix)
    plan = elements.over(stage.plan, kept=())
    item = Item(alias, prefix, plan, elements.columns, join.this, word="list")
    return Step(Entry(plan, [item], {}), join, [], elements=elements)


def _outer(generator: Generator, join: exp.Join) -> Generator:
    kind, on = kind_of(join), join.args.get("on")
    if kind == "INNER":
        return generator
    if kind != "LEFT":
        message = f"{kind} JOIN with the elements of a list is not supported"
        help = "write CROSS JOIN UNNEST(...), or LEFT JOIN UNNEST(...) ON TRUE"
        raise error_at(UnsupportedError, message, join, help)
    if on is not None and on != exp.true():
        message = "LEFT JOIN with the elements of a list takes ON TRUE"
        help = "filter the list itself, or move the condition to WHERE"
        raise error_at(UnsupportedError, message, on, help)
    return replace(generator, outer=True)


def _seeing(references: References, before: Entry) -> PlanStage:
    """A stage with the columns of the entries before, and of the query around."""
    link = references.link
    plan = _pairs([item.plan for item in before.items]) if before.items else before.plan
    outer = Schema(())
    if link is not None:
        outer = link.stage.schema if link.domain is None else link.domain.plan.schema
    scope = Scope(before.items, link, before.merged)
    return PlanStage(references.context, plan, scope, outer)


def _pairs(plans: Sequence[Plan]) -> Plan:
    """Only the columns matter: what joins the entries is added when they are put together."""
    return reduce(lambda left, right: Join(left, right, None), plans)
