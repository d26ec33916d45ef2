"""From a logical plan to the text of a query that means it."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import Final

from sqlglot import exp

from tidemill.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Intersection,
    OverRows,
    Plan,
    Project,
    SortKey,
    StrictDifference,
    TopK,
    Union,
    Unnest,
    column,
)
from tidemill.algebra.nodes import Dstream, Istream, Rstream, Unary, entries
from tidemill.algebra.ranking import CONFIDENCE
from tidemill.algebra.scalar import conjuncts
from tidemill.catalog import Catalog
from tidemill.compose.recognise import outer_join
from tidemill.compose.sql.block import (
    Block,
    CannotSay,
    FromEntry,
    aggregate_call,
    column_of,
    output_names,
    stream_call,
    unnest_call,
)
from tidemill.compose.sql.meetings import MeetingWriter
from tidemill.compose.sql.over_rows import over_call
from tidemill.compose.texts import identifier
from tidemill.sql import Approximate, StreamFunction, Tidemill
from tidemill.timeline import TimeDomain

_LARGEST: Final = 60  # parts of an expression that are put into another one
_LONGEST: Final = 200_000  # characters


def to_sql(plan: Plan, catalog: Catalog, domain: TimeDomain | None = None) -> str:
    """A query that means the same as a plan: what `engine.sql` makes of it is an equal plan.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Scan, Schema, TimeWindow
    >>> from tidemill.catalog import SourceInfo
    >>> catalog = Catalog()
    >>> catalog.add_source(SourceInfo("bid", Schema.of(item=pa.int64())))
    >>> scan = Scan("bid", "b", Schema.of(item=pa.int64()))
    >>> item = column("b.item", pa.int64())
    >>> print(to_sql(Project(TimeWindow(scan, 5), (("item", item),)), catalog))
    SELECT
      item
    FROM bid AS b WINDOW(RANGE 5)
    """
    names = plan.schema.names
    query = _PlanWriter(catalog, domain or TimeDomain.TICKS).query(plan, names)
    text = query.sql(dialect=Tidemill, pretty=True)
    if len(text) > _LONGEST:
        raise CannotSay("the query would be too long to read", help="split the plan")
    return text


class _PlanWriter(MeetingWriter):
    """Writes all nodes of plans."""

    def rule(self, plan: Plan) -> Block:
        return self._rule(plan)

    @singledispatchmethod
    def _rule(self, plan: Plan) -> Block:
        return self.meeting_rule(plan)

    @_rule.register
    def _filter(self, plan: Filter) -> Block:
        block = self.block(plan.child)
        if block.is_closed or block.shed is not None:
            block = self.wrapped(block, plan.child)
        conditions = [block.said(part) for part in conjuncts(plan.predicate)]
        (block.where if block.group is None else block.having).extend(conditions)
        block.is_bare = False
        return block

    @_rule.register
    def _project(self, plan: Project) -> Block:
        block = self.block(plan.child)
        if block.is_closed and not _keeps_rows(plan, block):
            block = self.wrapped(block, plan.child)
        found = _items(plan, block)
        if any(_size(node) > _LARGEST for node in found.values()) and not block.is_bare:
            block = self.wrapped(block, plan.child)
            found = _items(plan, block)
        block.columns, block.is_bare = found, False
        return block

    @_rule.register
    def _unnest(self, plan: Unnest) -> Block:
        block = self.opened(plan.child)
        alias = self.alias(next(iter(entries(plan.child)), "u") + "_list")
        names = ("element",) if plan.ordinal is None else ("element", "place")
        node = unnest_call(block.said(plan.values), alias, names)
        new = {c: column_of(alias, n) for c, n in zip(plan.made.names, names, strict=True)}
        kept = {name: block.columns[name] for name in plan.kept if name in block.columns}
        entry = FromEntry(node, alias)
        if plan.outer:
            entry.kind, entry.on = "LEFT", [exp.true()]
        block.entries.append(entry)
        block.columns, block.is_bare, block.is_rows = {**kept, **new}, False, False
        return block

    @_rule.register
    def _over_rows(self, plan: OverRows) -> Block:
        block = self.opened(plan.child)
        made = {call.name: over_call(plan, call, block.said) for call in plan.calls}
        block.columns, block.is_bare = {**block.columns, **made}, False
        # What stands above sees columns: functions over rows cannot be nested.
        return self.wrapped(block, plan)

    @_rule.register
    def _distinct(self, plan: Distinct) -> Block:
        child = plan.child
        if isinstance(child, Union | StrictDifference | Intersection) and not outer_join(child):
            return self.set_operation(child, distinct=True)
        block = self.selecting(plan.child)
        if block.is_closed:
            block = self.wrapped(block, plan.child)
        block.distinct, block.is_bare = True, False
        return block

    @_rule.register(Istream)
    @_rule.register(Dstream)
    @_rule.register(Rstream)
    def _stream(self, plan: Unary) -> Block:
        kind, child = type(plan).__name__.upper(), plan.child
        block = self.block(child)
        entry = block.entry
        if block.is_bare and entry is not None and entry.inner is None:
            node = entry.node.copy()
            node.set("alias", None)
            alias = exp.TableAlias(this=identifier(entry.alias))
            entry.node = exp.Table(this=stream_call(kind, node), alias=alias)
            return block
        self.check_columns(block, child)
        names = output_names(child.schema.names)
        outputs = list(zip(child.schema.names, names, strict=True))
        query = block.finished(outputs)
        if isinstance(query, StreamFunction):  # they are not written around each other
            query = block.select(outputs)
        return self.around(stream_call(kind, query), child, list(child.schema.names), names)

    @_rule.register
    def _aggregate(self, plan: Aggregate) -> Block:
        block = self.block(plan.child)
        if block.group is not None or block.is_closed:
            block = self.wrapped(block, plan.child)
        found = {key: block.said(column(key, plan.schema[key])) for key in plan.keys}
        block.group = list(found.values())
        for call in plan.calls:
            if call.weights or call.parts:
                raise CannotSay("SQL cannot express weighted aggregates", help="remove weights")
            argument = None
            if call.argument is not None:
                kind = plan.child.schema[call.argument]
                argument = block.said(column(call.argument, kind))
            found[call.name] = aggregate_call(call, argument)
        block.columns, block.is_bare, block.is_rows = found, False, False
        return block

    @_rule.register
    def _topk(self, plan: TopK) -> Block:
        block = self.selecting(plan.child)
        if block.limit is not None or block.shed is not None:
            block = self.wrapped(block, plan.child)
        # The order of columns decides among equal rows, and Aggregates have keys first.
        block.columns = {name: block.columns[name] for name in plan.schema.names}
        block.order = [(block.columns[key.column], _ordered(key)) for key in plan.order]
        block.limit, block.offset = plan.limit, plan.offset
        if plan.approximate is not None:
            usual = plan.approximate == CONFIDENCE
            given = {} if usual else {"confidence": exp.Literal.number(f"{plan.approximate:g}")}
            block.approximate = Approximate(**given)
        block.is_bare = False
        return block


def _ordered(key: SortKey) -> exp.Ordered:
    return exp.Ordered(desc=key.descending or None, nulls_first=key.nulls_first)


def _size(node: exp.Expr) -> int:
    return sum(1 for _ in node.walk())


def _items(plan: Project, block: Block) -> dict[str, exp.Expr]:
    """The columns of a projection, but for those of the engine's own that it only hands on."""
    handed = {name for name, s in plan.items if s.is_column and s.node.name not in block.columns}
    return {name: block.said(s) for name, s in plan.items if name not in handed}


def _keeps_rows(plan: Project, block: Block) -> bool:
    """Whether a projection above DISTINCT or LIMIT changes nothing about their result."""
    if not all(scalar.is_column for _, scalar in plan.items):
        return False
    kept = [scalar.node.name for _, scalar in plan.items]
    names = list(block.columns)
    if len(set(kept)) != len(kept) or [name for name in names if name in kept] != kept:
        return False
    dropped = [block.columns[name] for name in names if name not in kept]
    ordered = [node for node, _ in block.order]
    return not dropped or (not block.distinct and all(node in ordered for node in dropped))
