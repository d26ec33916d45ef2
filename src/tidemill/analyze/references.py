"""The entries of FROM: sources, derived streams, subqueries and stream functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import (
    VERSION,
    CountWindow,
    Dstream,
    Field,
    Istream,
    Plan,
    Project,
    Rstream,
    Scalar,
    Scan,
    Schema,
    SessionWindow,
    SourceKind,
    TimeWindow,
    column,
)
from tidemill.algebra.scalar import column_node
from tidemill.analyze.constant_rows import constant_rows
from tidemill.analyze.context import CommonTable, Context
from tidemill.analyze.correlation import Domain, Link, trial_link
from tidemill.analyze.functions import name_of_call
from tidemill.analyze.query import plan_tree
from tidemill.analyze.relation import PlannedRelation, check_names
from tidemill.analyze.scope import Item
from tidemill.analyze.window_tables import window_query
from tidemill.analyze.windows import apply_clauses, apply_function
from tidemill.catalog.catalog import Derived, SourceInfo
from tidemill.errors import CatalogError, PlanError, UnsupportedError
from tidemill.sql import StreamFunction, WindowTable, error_at
from tidemill.sql.elsewhere import CLAUSES, FUNCTIONS

_CLAUSES = ("this", "db", "catalog", "alias", "stream_window", "granularity", "joins", "with_")
_WINDOWS = (TimeWindow, CountWindow, SessionWindow, Istream, Dstream, Rstream)


@dataclass
class References:
    """Turns the entries of one FROM clause into items."""

    context: Context
    select: exp.Expr
    link: Link | None

    def __post_init__(self) -> None:
        # A subquery's columns stand beside those of the query around it in their join.
        around = self.link.stage.schema.names if self.link else ()
        self._taken = {name.split(".", 1)[0].casefold() for name in around}

    def item(self, node: exp.Expr) -> Item:
        """The item of a table, subquery or stream function, with its window."""
        _refuse_clauses(node)
        prefix = self._prefix(alias := self._alias(node))
        item = apply_clauses(self._plain(node, alias, prefix), node, self.context)
        if item.carried and node.args.get("stream_window"):
            raise _correlated(node, "under a window")
        return _with_column_aliases(item, node)

    def named(self, alias: str) -> tuple[str, str]:
        """An alias, or one that is made up, and the prefix of its columns in the plan."""
        alias = alias or self.context.fresh("unnest")
        return alias, self._prefix(alias)

    def _alias(self, node: exp.Expr) -> str:
        if node.alias:
            return node.alias
        if isinstance(node, exp.Table) and isinstance(node.this, StreamFunction):
            return self._alias(node.this.this)
        if isinstance(node, exp.Table) and isinstance(node.this, WindowTable):
            return self._alias(node.this.args["data"])
        if isinstance(node, exp.Table):
            entry = self.context.catalog.readable(node.name)
            return entry.name if entry and not self._common_table(node) else node.name
        return self.context.fresh("subquery")

    def _prefix(self, alias: str) -> str:
        prefix, number = alias, 1
        while prefix.casefold() in self._taken:
            number += 1
            prefix = f"{alias}_{number}"
        return prefix

    def _plain(self, node: exp.Expr, alias: str, prefix: str) -> Item:
        if isinstance(node, exp.Table) and isinstance(node.this, StreamFunction):
            return self._function(node.this, alias, prefix)
        if isinstance(node, exp.Table) and isinstance(node.this, WindowTable):
            return self._window_table(node.this, alias, prefix, node)
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
            help = "FROM takes streams, relations, subqueries, UNNEST, EXPLODE and VALUES"
            help = FUNCTIONS.get(name_of_call(node.this).lower(), help)
            raise error_at(UnsupportedError, "table functions are not supported", node, help)
        if isinstance(node, exp.Table):
            return self._named(node, alias, prefix)
        if isinstance(node, exp.Values):
            plan, columns = constant_rows(node, self.context, prefix)
            return Item(alias, prefix, plan, columns, node, word="relation")
        if isinstance(node, exp.Subquery):
            return self._subquery(node.this, alias, prefix, node)
        if isinstance(node, exp.Select | exp.SetOperation):
            return self._subquery(node, alias, prefix, node)
        message = f"{node.key.upper()} is not supported in FROM"
        raise error_at(UnsupportedError, message, node, "use a stream, a relation or a subquery")

    def _function(self, function: StreamFunction, alias: str, prefix: str) -> Item:
        inner = apply_clauses(
            self._plain(function.this, alias, prefix), function.this, self.context
        )
        if inner.carried:
            raise _correlated(function, f"under {function.text('kind')}")
        plan = apply_function(inner.plan, function, self.context)
        return replace(inner, plan=plan, is_windowed=True)

    def _window_table(self, table: WindowTable, alias: str, prefix: str, node: exp.Expr) -> Item:
        data, time = table.args["data"], table.args["timecol"]
        # The query names the time column of the stream.
        named = exp.Select(expressions=[exp.column(time.copy())])
        trial = References(self.context.trial(), named, self.link)
        inner = trial.item(data)
        domain = trial.context.domain
        if domain is None:
            message = f"`{inner.alias}` never changes, so a window has no meaning on it"
            raise error_at(PlanError, message, data, f"read {inner.alias} without a window")
        tree = window_query(table, inner, self.context.catalog, domain)
        return replace(self._subquery(tree, alias, prefix, node), is_windowed=True)

    def _common_table(self, node: exp.Table) -> CommonTable | None:
        return self.context.common_tables.get(node.name.casefold())

    def _named(self, node: exp.Table, alias: str, prefix: str) -> Item:
        if (table := self._common_table(node)) is not None:
            around = self if table.sees_around else replace(self, link=None)
            with self.context.seeing(table.visible):
                return around._subquery(table.tree, alias, prefix, node)
        catalog = self.context.catalog
        if node.db or (entry := catalog.readable(node.name)) is None:
            shown = ".".join(part.name for part in node.parts)
            help = catalog.remedy(node.name, self.context.common_tables)
            raise error_at(CatalogError, f"unknown stream or relation `{shown}`", node, help)
        self.context.use(entry.name, entry.domain, node)
        if isinstance(entry, SourceInfo):
            return self._source(entry, alias, prefix, node)
        self.context.hints = entry.hints.under(self.context.hints)
        return _derived(entry, alias, prefix, node)

    def _source(self, info: SourceInfo, alias: str, prefix: str, node: exp.Expr) -> Item:
        columns, hidden = info.schema, frozenset[str]()
        named = info.time_column and info.time_column.casefold() in self._mentioned(alias)
        if info.time_column and named:
            columns = Schema((*columns, Field(info.time_column, info.time_type)))
            hidden = frozenset({info.time_column})
        plan = source_plan(info, prefix, columns)
        word = "stream" if info.kind is SourceKind.STREAM else "relation"
        return Item(alias, prefix, plan, columns, node, hidden, word, source=info.name)

    def _mentioned(self, alias: str) -> set[str]:
        """The columns that the query names, perhaps those of this alias."""
        return {
            part.name.casefold()
            for part in self.select.walk()
            if isinstance(part, exp.Identifier) and _may_belong(part, alias)
        }

    def _subquery(self, tree: exp.Expr, alias: str, prefix: str, node: exp.Expr) -> Item:
        if isinstance(tree, exp.Table):  # parentheses around a name
            return apply_clauses(self._plain(tree, alias, prefix), tree, self.context)
        relation, carried = self._planned(tree)
        check_names(relation.outputs)
        names = tuple(f"{prefix}.{name}" for name in relation.names)
        fields = zip(relation.names, relation.outputs, strict=True)
        columns = Schema(tuple(Field(name, output.scalar.type) for name, output in fields))
        return Item(
            alias,
            prefix,
            relation.close(names),
            columns,
            node,
            word="subquery",
            is_windowed=relation.is_windowed,
            carried=tuple(carried.items()),
        )

    def _planned(self, tree: exp.Expr) -> tuple[PlannedRelation, dict[str, str]]:
        if self.link is None:
            return plan_tree(tree, self.context, None), {}
        # The query around is visible in here too, though the neighbours in FROM are not.
        trial_context = self.context.trial()
        trial = trial_link(self.link.stage, trial_context)
        plan_tree(tree, trial_context, trial)
        if not trial.used:
            return plan_tree(tree, self.context, Link(self.link.stage)), {}
        self.link.note(trial.used)
        domain = Domain.of(self.link.stage, trial.used, self.context)
        return plan_tree(tree, self.context, Link(self.link.stage, domain)), domain.names


def carried_matches(item: Item, link: Link) -> Iterator[exp.Expr]:
    """The conditions that tie a subquery's domain to the domain of the block around it."""
    assert link.domain is not None
    for outer, name in item.carried:
        other = column_node(link.domain.names[outer])
        yield exp.NullSafeEQ(this=column_node(name), expression=other)


def source_plan(info: SourceInfo, prefix: str, columns: Schema) -> Plan:
    """The rows of a source, with columns `prefix.name` and values held to their ranges."""
    read = columns
    if info.kind is SourceKind.CHANGING:
        read = Schema((*columns, Field(VERSION, pa.int64())))
    scan = Scan(info.name, prefix, read, info.kind, info.bounded, info.rows, info.recurs)
    if not info.ranges:
        return scan

    def item(field: Field) -> tuple[str, Scalar]:
        name = f"{scan.alias}.{field.name}"
        value, limits = column(name, field.type), info.ranges.get(field.name)
        return name, value if limits is None else limits.held(value, f"{info.name}.{field.name}")

    return Project(scan, tuple(item(field) for field in scan.columns))


def _may_belong(part: exp.Identifier, alias: str) -> bool:
    parent = part.parent
    if isinstance(parent, exp.Column):
        tables = [each.name.casefold() for each in parent.parts[:-1]]
        return not tables or alias.casefold() in tables
    return isinstance(parent, exp.Join)  # USING


def _derived(entry: Derived, alias: str, prefix: str, node: exp.Expr) -> Item:
    names = tuple(f"{prefix}.{name}" for name in entry.schema.names)
    plan = Project.renaming(entry.plan, names)
    windowed = any(isinstance(part, _WINDOWS) for part in plan.walk())
    return Item(alias, prefix, plan, entry.schema, node, word=entry.word, is_windowed=windowed)


_WORDS = {
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "order": "ORDER BY",
    "version": "AS OF",
    "rows_from": "ROWS FROM",
}


def _refuse_clauses(node: exp.Expr) -> None:
    if not isinstance(node, exp.Table | exp.Subquery):
        return
    for name in (name for name, value in node.args.items() if value and name not in _CLAUSES):
        message = f"{_WORDS.get(name, name.upper())} is not supported behind an entry of FROM"
        raise error_at(UnsupportedError, message, node, CLAUSES.get(name, "remove the clause"))


def _with_column_aliases(item: Item, node: exp.Expr) -> Item:
    """Rename the columns, as in `bid AS b(i, p)`."""
    alias = node.args.get("alias")
    names = [part.name for part in alias.args.get("columns") or ()] if alias else []
    if not names:
        return item
    if len(names) != len(item.visible):
        message = f"`{item.alias}` has {len(item.visible)} columns, but {len(names)} names"
        raise error_at(PlanError, message, node, f"columns: {', '.join(item.visible)}")
    new = dict(zip(item.visible, names, strict=True))
    fields = (Field(new.get(field.name, field.name), field.type) for field in item.columns)
    plan_names = {item.plan_column(old): item.plan_column(name) for old, name in new.items()}
    renamed = tuple(plan_names.get(name, name) for name in item.plan.schema.names)
    return replace(item, plan=Project.renaming(item.plan, renamed), columns=Schema(tuple(fields)))


def _correlated(node: exp.Expr, where: str) -> UnsupportedError:
    message = f"a subquery {where} cannot mention columns of the query around it"
    return error_at(UnsupportedError, message, node, "move the condition to the WHERE outside")
