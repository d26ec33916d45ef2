"""What all parts of a plan need to be said: aliases, entries of FROM, and subqueries."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sqlglot import exp

from tidemill.algebra import CountWindow, Plan, Scan, TimeWindow
from tidemill.algebra.nodes import entries
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.unnest import ONE_ROW
from tidemill.catalog import Catalog
from tidemill.compose.recognise import RecognisedObjects, objects_of, source_of
from tidemill.compose.sql.block import Block, CannotSay, FromEntry, column_of, output_names
from tidemill.compose.texts import identifier, parts_of
from tidemill.sql import ObjectsClause
from tidemill.timeline import TimeDomain


class Writer(ABC):
    """Writes plans; each kind of node registers how it is written."""

    def __init__(self, catalog: Catalog, domain: TimeDomain) -> None:
        self._catalog = catalog
        self.domain = domain
        self._aliases: set[str] = set()

    def query(self, plan: Plan, names: tuple[str, ...] | None = None) -> exp.Expr:
        """The query of a plan, with columns of these names."""
        block = self.selecting(plan)
        names = names or output_names(plan.schema.names)
        return block.finished(list(zip(plan.schema.names, names, strict=True)))

    def block(self, plan: Plan) -> Block:
        """A plan as the beginning of a query."""
        if isinstance(plan, Scan) and plan.source == ONE_ROW:
            return self._one_row(plan)
        if (source := source_of(plan, self._catalog)) is not None:
            return self._source(source.name, source.alias, source.columns)
        if (told := objects_of(plan, self._catalog)) is not None:
            return self._objects(told, plan)
        if isinstance(plan, Ranking):
            return self.block(plan.exact)
        return self.rule(plan)

    @abstractmethod
    def rule(self, plan: Plan) -> Block:
        """How a node is written, whatever stands below it."""

    def alias(self, wanted: str) -> str:
        """An alias that no other entry has."""
        alias, number = wanted, 1
        while alias.casefold() in self._aliases:
            number += 1
            alias = f"{wanted}_{number}"
        self._aliases.add(alias.casefold())
        return alias

    def _source(self, name: str, wanted: str, columns: dict[str, str]) -> Block:
        alias = self.alias(wanted)
        node = exp.Table(this=identifier(name))
        if alias != name:
            node.set("alias", exp.TableAlias(this=identifier(alias)))
        found: dict[str, exp.Expr] = {c: column_of(alias, own) for c, own in columns.items()}
        return Block([FromEntry(node, alias)], found)

    def _one_row(self, plan: Scan) -> Block:
        alias = self.alias(plan.alias)
        given = exp.TableAlias(this=identifier(alias), columns=[identifier("one")])
        row = exp.Tuple(expressions=[exp.true()])
        node = exp.Values(expressions=[row], alias=given)
        found: dict[str, exp.Expr] = {name: column_of(alias, "one") for name in plan.schema.names}
        return Block([FromEntry(node, alias)], found, is_bare=False)

    def _objects(self, told: RecognisedObjects, plan: Plan) -> Block:
        parts = [self.block(stream) for stream in told.streams]
        pairs = zip(parts, told.streams, strict=True)
        whole = [p if p.is_bare and p.entry else self.wrapped(p, plan) for p, plan in pairs]
        inside = [block.entries[0] for block in whole]
        names = {next(iter(entries(s))): e.alias for s, e in zip(told.streams, inside, strict=True)}
        alias = names[told.alias] = self.alias(told.alias)
        by = [identifier(key) for key in told.keys]
        node = exp.Table(
            this=ObjectsClause(expressions=[entry.node for entry in inside], by=by),
            alias=exp.TableAlias(this=identifier(alias)),
            stream_window=self.window_clause(told.window),
        )
        found: dict[str, exp.Expr] = {}
        for name in plan.schema.names:
            prefix, own = parts_of(name)
            found[name] = column_of(names[prefix], own)
        # Its columns have several aliases, so none of them is left out.
        entry = FromEntry(node, "")
        return Block([entry], found, is_bare=False, is_rows=False)

    @abstractmethod
    def window_clause(self, window: TimeWindow | CountWindow) -> exp.Expr:
        """A window as it is written after an entry."""

    def wrapped(self, block: Block, plan: Plan) -> Block:
        """The block as an entry of another one; `plan` is what it gives."""
        shown = [name for name in plan.schema.names if name in block.columns]
        names = output_names(shown)
        query = block.finished(list(zip(shown, names, strict=True)))
        return self.around(query, plan, shown, names)

    def around(
        self, query: exp.Expr, plan: Plan, columns: list[str], names: tuple[str, ...]
    ) -> Block:
        alias = self.alias(next(iter(entries(plan)), "q"))
        aliased = exp.TableAlias(this=identifier(alias))
        if isinstance(query, exp.Query):
            node: exp.Expr = exp.Subquery(this=query, alias=aliased)
        else:
            node = exp.Table(this=query, alias=aliased)
        entry = FromEntry(node, alias, inner=query, names=names)
        return Block([entry], {c: column_of(alias, n) for c, n in zip(columns, names, strict=True)})

    def selecting(self, plan: Plan) -> Block:
        """A block that selects exactly the columns of a plan."""
        block = self.block(plan)
        self.check_columns(block, plan)
        return block

    def check_columns(self, block: Block, plan: Plan) -> None:
        for name in plan.schema.names:
            if name not in block.columns:
                message = f"rows are told apart by `{name}`, which SQL cannot name"
                raise CannotSay(message, help="put a Project below that leaves it out")

    def opened(self, plan: Plan) -> Block:
        block = self.block(plan)
        return block if block.is_open else self.wrapped(block, plan)
