"""Joins and set operations, and what EXISTS says."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import Final

from sqlglot import exp

from tidemill.algebra import Difference, StarJoin, StrictDifference, Union, column
from tidemill.algebra.nodes import (
    AntiJoin,
    Conditional,
    Join,
    SemiJoin,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import conjuncts, equality
from tidemill.algebra.sets import (
    Intersection,
    MaxUnion,
    SetOperation,
)
from tidemill.compose.recognise import outer_join
from tidemill.compose.sql.block import Block, output_names
from tidemill.compose.sql.windows import WindowWriter
from tidemill.sql import Shed

_WORDS: Final[dict[type[SetOperation], type[exp.SetOperation]]] = {
    Union: exp.Union,
    Difference: exp.Except,
    StrictDifference: exp.Except,
    Intersection: exp.Intersect,
}


class MeetingWriter(WindowWriter):
    """Writes what has two inputs or more."""

    @singledispatchmethod
    def meeting_rule(self, plan: Plan) -> Block:
        """How a node with several inputs is written."""
        return self.window_rule(plan)

    @meeting_rule.register
    def _join(self, plan: Join) -> Block:
        left, right = self.opened(plan.left), self.opened(plan.right)
        if any(entry.kind in ("RIGHT", "FULL") for entry in right.entries):
            right = self.wrapped(right, plan.right)
        return self._together(left, right, plan)

    def _together(self, left: Block, right: Block, plan: Conditional) -> Block:
        both = Block(left.entries + right.entries, {**left.columns, **right.columns})
        both.where, both.equal = left.where + right.where, left.equal + right.equal
        both.equal += [both.said(part) for part in conjuncts(plan.condition)]
        both.is_bare = both.is_rows = False
        return both

    @meeting_rule.register(SemiJoin)
    @meeting_rule.register(AntiJoin)
    def _partners(self, plan: Conditional) -> Block:
        block, other = self.opened(plan.left), self.opened(plan.right)
        columns = {**block.columns, **other.columns}
        inside = Block(other.entries, columns, other.where, other.equal)
        inside.where = [*other.where, *(inside.said(part) for part in conjuncts(plan.condition))]
        inside.columns = {"1": exp.Literal.number(1)}
        inside.is_bare = False
        exists: exp.Expr = exp.Exists(this=_one(inside))
        if isinstance(plan, AntiJoin):
            exists = exp.Not(this=exists)
        block.where.append(exists)
        block.is_bare = block.is_rows = False
        return block

    @meeting_rule.register
    def _union(self, plan: Union) -> Block:
        if (found := outer_join(plan)) is None:
            return self.set_operation(plan)
        left, right, condition, kind = found
        one, other = self.opened(left), self.opened(right)
        if kind != "LEFT" and (one.where or one.equal or not _is_plain(one)):
            one = self.wrapped(one, left)
        if other.where or other.entry is None or not _is_plain(other):
            other = self.wrapped(other, right)
        both = Block(one.entries + other.entries, {**one.columns, **other.columns})
        both.where, both.equal = one.where, one.equal
        other.entries[0].kind = kind
        other.entries[0].on = [both.said(part) for part in conjuncts(condition)]
        both.is_bare = both.is_rows = False
        return both

    @meeting_rule.register
    def _max_union(self, plan: MaxUnion) -> Block:
        return self.block(Union(plan.left, Difference(plan.right, plan.left)))

    @meeting_rule.register(Difference)
    @meeting_rule.register(Intersection)
    def _in_words(self, plan: SetOperation) -> Block:
        return self.set_operation(plan)

    def set_operation(self, plan: SetOperation, distinct: bool = False) -> Block:
        names = output_names(plan.schema.names)
        sides = [_operand(self.query(side, names)) for side in plan.children]
        kind = _WORDS[type(plan)]
        query = kind(this=sides[0], expression=sides[1], distinct=distinct)
        return self.around(query, plan, list(plan.schema.names), names)

    @meeting_rule.register
    def _without(self, plan: StrictDifference) -> Block:
        """Rows that the right side does not have at all: NULLs are equal here."""
        block, other = self.opened(plan.left), self.opened(plan.right)
        equal = [
            equality(column(f"l.{f.name}", f.type), column(f"r.{f.name}", f.type), null_safe=True)
            for f in plan.schema
        ]
        columns = {f"l.{name}": node for name, node in block.columns.items()}
        columns |= {f"r.{name}": node for name, node in other.columns.items()}
        inside = Block(other.entries, columns, other.where, other.equal)
        inside.where = [*other.where, *(inside.said(part) for part in equal)]
        inside.columns = {"1": exp.Literal.number(1)}
        inside.is_bare = False
        block.where.append(exp.Not(this=exp.Exists(this=_one(inside))))
        block.is_bare = block.is_rows = False
        return block

    @meeting_rule.register
    def _starjoin(self, plan: StarJoin) -> Block:
        parts = [self.opened(child) for child in plan.children]
        columns = {name: node for part in parts for name, node in part.columns.items()}
        block = Block([entry for part in parts for entry in part.entries], columns)
        block.where = [node for part in parts for node in part.where]
        block.equal = [node for part in parts for node in part.equal]
        block.equal += [block.said(part) for part in conjuncts(plan.condition)]
        block.is_bare = block.is_rows = False
        block.shed = self._shed(plan, block)
        return block

    def _shed(self, plan: StarJoin, block: Block) -> Shed:
        shedding = plan.shedding
        given = [name for name in shedding.importances if name is not None]
        importances = [block.columns[name].copy() for name in given]
        numbers = {"ALPHA": shedding.alpha, "BETA": shedding.beta, "SEED": shedding.seed}
        used = {"DGL": ("ALPHA", "BETA"), "RANDOM": ("SEED",)}.get(shedding.policy.name, ())
        parameters = [
            exp.Kwarg(this=exp.to_identifier(name), expression=_number(numbers[name]))
            for name in used
        ]
        return Shed(
            rows=exp.Literal.number(shedding.rows),
            expressions=importances,
            policy=shedding.policy.name,
            parameters=parameters,
        )


def _number(value: float) -> exp.Expr:
    return exp.Literal.number(f"{value:.17g}")


def _is_plain(block: Block) -> bool:
    """Whether padding its rows with NULL gives NULL in every column."""
    return all(isinstance(node, exp.Column) for node in block.columns.values())


def _operand(query: exp.Expr) -> exp.Expr:
    alone = isinstance(query, exp.Select) and not any(
        query.args.get(clause) for clause in ("order", "limit", "shed")
    )
    return query if alone or not isinstance(query, exp.Query) else exp.Subquery(this=query)


def _one(block: Block) -> exp.Expr:
    query = block.select([("1", "1")], qualified=True)
    query.set("expressions", [exp.Literal.number(1)])
    return query
