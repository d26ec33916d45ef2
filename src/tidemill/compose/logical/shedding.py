"""Joins of streams through a relation, with a bound on the rows that they keep."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from tidemill.algebra import Field, Filter, Join, Plan, Policy, Project, Scalar, Schema, column
from tidemill.algebra.nodes import entries
from tidemill.analyze.scope import Item
from tidemill.analyze.shedding import bound_memory
from tidemill.compose import texts
from tidemill.compose.bench import Bench
from tidemill.compose.model import Wrong, about
from tidemill.compose.operators import Card, Setting
from tidemill.compose.texts import short
from tidemill.errors import TidemillError
from tidemill.sql import Shed

OWN = ("#importance", "#key")
"""How columns begin that only the join itself reads."""


def _shed_join(bench: Bench) -> Plan:
    plans = [piece.plan for piece in bench.inputs]
    stage = bench.stage(*plans)
    condition = bench.condition("condition", stage)
    assert condition is not None
    stage.scope.items = [_item(plan) for plan in plans]
    stage.plan, stage.outer = _region(plans, condition), Schema(())
    select = exp.Select(expressions=[])
    select.set("shed", _shed(bench))
    try:
        bound_memory(stage, select)
    except TidemillError as error:
        raise Wrong(error) from None
    assert isinstance(stage.plan, Project)
    kept = [f for f in stage.plan.schema if not f.name.startswith(OWN)]
    return Project(stage.plan.child, tuple((f.name, column(f.name, f.type)) for f in kept))


def _region(plans: list[Plan], condition: Scalar) -> Plan:
    return Filter(reduce(lambda left, right: Join(left, right, None), plans), condition)


def _item(plan: Plan) -> Item:
    alias = "+".join(entries(plan)) or "input"
    own = [field for field in plan.schema if field.name.startswith(f"{alias}.")]
    columns = Schema(tuple(Field(short(field.name), field.type) for field in own))
    return Item(alias, alias, plan, columns, exp.Table(this=exp.to_identifier(alias)))


def _shed(bench: Bench) -> Shed:
    importances = []
    for line in bench.lines("importances"):
        with about("importances"):
            importances += texts.expressions(line)
    policy = bench.choice("policy")
    names = {"dgl": ("alpha", "beta"), "random": ("seed",)}.get(policy, ())
    given = {name: bench.number(name) for name in names}
    parameters = [
        exp.Kwarg(this=exp.to_identifier(name.upper()), expression=exp.Literal.number(value))
        for name, value in given.items()
        if value is not None
    ]
    rows = exp.Literal.number(bench.integer("rows", 1) or 1)
    return Shed(rows=rows, expressions=importances, policy=policy.upper(), parameters=parameters)


OPERATORS = (
    Card(
        "shed_join",
        "Join with bounded memory",
        "join",
        "Joins windows of streams through a relation, the last input, with a bound on kept rows.",
        _shed_join,
        (
            Setting(
                "condition",
                "Condition",
                "condition",
                "Equalities of each stream with the relation, and further conditions.",
                "r.a = f.a AND f.b = s.b",
                required=True,
            ),
            Setting(
                "rows", "Rows", "integer", "How many rows are kept in total.", "1000", required=True
            ),
            Setting(
                "importances",
                "Importances",
                "columns",
                "The importance of a row, for each stream; the least important rows go first.",
                "r.importance, s.importance",
            ),
            Setting(
                "policy",
                "Policy",
                "choice",
                "Which row is shed.",
                "dgl",
                default="dgl",
                choices=tuple(policy.value for policy in Policy),
            ),
            Setting("alpha", "Alpha", "number", "For dgl: how fast priorities rise.", "1.0"),
            Setting("beta", "Beta", "number", "For dgl: how fast they fall.", "1.0"),
            Setting("seed", "Seed", "integer", "For random: the seed.", "0"),
        ),
        2,
        8,
    ),
)
