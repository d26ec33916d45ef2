"""What a script would do: it is planned, and nothing happens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from tidemill.analyze import (
    Planned,
    derived_from_statement,
    inserted_rows,
    instant_of,
    plan_query,
    source_from_statement,
)
from tidemill.catalog import Catalog, Derived, SourceInfo
from tidemill.engine.allow import AllowList
from tidemill.engine.named import name_is_taken, unknown_query
from tidemill.errors import PlanWarning, TidemillError, TimeLimitError
from tidemill.sql import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    DeleteFrom,
    DropObject,
    ExplainQuery,
    InsertInto,
    InsertValues,
    PlanText,
    QueryStatement,
    StartQuery,
    Statement,
    StopQuery,
    parse,
)


@dataclass(frozen=True)
class Checked:
    """The statements of a script, what is wrong with them, and what the planner has to say.

    Where the text cannot be read, or a CREATE is wrong, nothing is said of what follows.
    """

    statements: tuple[Statement, ...] = ()
    errors: tuple[TidemillError, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()


def check(
    text: str, catalog: Catalog, queries: Iterable[str], allow: AllowList | None = None
) -> Checked:
    """Plan a script over what there is, and over what it creates itself."""
    try:
        statements = tuple(parse(text))
    except TidemillError as error:
        return Checked(errors=(error,))
    trial = _Trial(catalog.copy(), queries)
    errors = []
    for statement in statements:
        try:
            if allow is not None:
                allow.check(statement)
            trial.take(statement)
        except TimeLimitError:
            raise
        except TidemillError as error:
            errors.append(error)
            if isinstance(statement, CreateStream | CreateRelation | CreateDerived | CreateQuery):
                break
    return Checked(statements, tuple(errors), tuple(trial.warnings))


class _Trial:
    """A catalog of its own, which statements change; the names of queries are there too."""

    def __init__(self, catalog: Catalog, queries: Iterable[str]) -> None:
        self.catalog = catalog
        self.queries = {name.casefold(): name for name in queries}
        self.warnings: list[PlanWarning] = []

    def take(self, statement: Statement) -> None:
        """Plan one statement, and know from then on what it creates or drops."""
        if self._has_nothing_to_do(statement):
            return
        match statement:
            case QueryStatement():
                self._plan(statement, statement.tree)
            case ExplainQuery() if statement.query is not None:
                self._plan(statement, statement.query)
            case InsertInto():
                self._plan(statement, statement.query)
            case CreateStream() | CreateRelation():
                self._add(statement, source_from_statement(statement))
            case CreateDerived():
                self._derive(statement)
            case CreateQuery():
                self._define(statement)
            case AlterQuery():
                self._known(statement.name)
                if statement.query is not None:
                    self._reads(statement, statement.query)
            case StartQuery() | StopQuery():
                self._known(statement.name)
            case DropObject():
                self._drop(statement)
            case InsertValues() | DeleteFrom():
                self._change(statement)

    def _plan(self, statement: Statement, tree: exp.Expr) -> Planned:
        is_shown = not isinstance(statement, CreateDerived)
        planned = plan_query(tree, statement.source.text, self.catalog, is_shown)
        self.warnings += planned.warnings
        return planned

    def _derive(self, statement: CreateDerived) -> None:
        planned = self._plan(statement, statement.query)
        self._add(statement, derived_from_statement(statement, planned))

    def _add(self, statement: Statement, entry: SourceInfo | Derived) -> None:
        if entry.name.casefold() in self.queries:
            raise name_is_taken(entry.name)
        self.catalog.add(entry, statement.or_replace)

    def _has_nothing_to_do(self, statement: Statement) -> bool:
        name = str(getattr(statement, "name", ""))
        known = name.casefold() in self.queries or self.catalog.find(name) is not None
        return known if statement.if_not_exists else statement.if_exists and not known

    def _define(self, statement: CreateQuery) -> None:
        reads = self._reads(statement, statement.query)
        name = statement.name
        is_query = name.casefold() in self.queries
        if self.catalog.find(name) is not None or (is_query and not statement.or_replace):
            raise name_is_taken(name)
        self.queries[name.casefold()] = name
        self.catalog.hold(f"query {name}", reads)

    def _reads(self, statement: Statement, tree: exp.Expr) -> frozenset[str]:
        """What a query reads; plans that were composed by hand are not looked into."""
        if isinstance(tree, PlanText):
            return frozenset()
        return self._plan(statement, tree).depends_on

    def _known(self, name: str) -> None:
        if name.casefold() not in self.queries:
            raise unknown_query(name, self.queries.values())

    def _drop(self, statement: DropObject) -> None:
        name = statement.name
        if statement.kind == "QUERY":
            self._known(name)
            self.catalog.release(f"query {self.queries.pop(name.casefold(), name)}")
        else:
            self.catalog.drop(name)

    def _change(self, statement: InsertValues | DeleteFrom) -> None:
        entry = self.catalog.lookup(statement.name)
        instant_of(statement.at, self.catalog)
        if isinstance(statement, InsertValues) and isinstance(entry, SourceInfo):
            inserted_rows(statement, entry, self.catalog)
