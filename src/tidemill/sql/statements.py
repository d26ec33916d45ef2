"""The statements of a script, as the rest of the system sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.sql.nodes import (
    AlterNamed,
    AtMost,
    CommandQuery,
    Connector,
    CreateAs,
    CreateSource,
    DeleteRows,
    DescribeNamed,
    DropNamed,
    Duration,
    ExplainNamed,
    InsertRows,
    InsertSink,
    ShowNames,
)
from tidemill.sql.source import Position, Source

__all__ = [
    "AlterQuery",
    "ConnectorCall",
    "CreateDerived",
    "CreateQuery",
    "CreateRelation",
    "CreateStream",
    "Creation",
    "DeleteFrom",
    "DescribeName",
    "DropObject",
    "ExplainQuery",
    "InsertInto",
    "InsertValues",
    "OptionValue",
    "QueryStatement",
    "ShowObjects",
    "StartQuery",
    "Statement",
    "StopQuery",
    "statement_of",
]

OptionValue = str | int | float | bool | None


@dataclass(frozen=True)
class ConnectorCall:
    """A source or sink: format, positional arguments and options."""

    tree: Connector
    format: str
    arguments: tuple[OptionValue, ...] = ()
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Statement:
    """One statement: its tree, its own text, and its place in the whole script.

    `query_sql` is the query in it, as it was written, without the name and the sink it is given.
    """

    tree: exp.Expr
    sql: str
    position: Position
    source: Source = field(repr=False, compare=False)
    query_sql: str = field(default="", kw_only=True, repr=False, compare=False)

    @property
    def if_not_exists(self) -> bool:
        """Whether nothing is created if there is something of that name."""
        return bool(isinstance(self.tree, CreateAs | CreateSource) and self.tree.args.get("exists"))

    @property
    def or_replace(self) -> bool:
        """Whether what is created takes the place of what has its name."""
        return bool(self.tree.args.get("replace"))

    @property
    def if_exists(self) -> bool:
        """Whether nothing is done if there is nothing of that name."""
        return bool(not isinstance(self, Creation) and self.tree.args.get("exists"))


@dataclass(frozen=True)
class QueryStatement(Statement):
    """A query by itself; `tree` is the query."""


@dataclass(frozen=True)
class CreateStream(Statement):
    """A stream that a connector feeds; without one, rows are pushed into it."""

    name: str
    columns: tuple[exp.ColumnDef, ...]
    connector: ConnectorCall | None
    ordered_by: exp.Identifier | None = None
    slack: Duration | None = None
    idle: Duration | None = None
    at_most: AtMost | None = None
    retain: Duration | None = None
    ahead: Duration | None = None


@dataclass(frozen=True)
class CreateRelation(Statement):
    """A relation, perhaps with the columns that say when its rows hold.

    One that is `changing` needs no connector: rows can be inserted.
    """

    name: str
    columns: tuple[exp.ColumnDef, ...]
    connector: ConnectorCall | None
    valid_from: exp.Identifier | None = None
    valid_to: exp.Identifier | None = None
    changing: bool = False


@dataclass(frozen=True)
class CreateDerived(Statement):
    """A stream, relation or view (`kind`) that a query defines."""

    kind: str
    name: str
    query: exp.Expr


@dataclass(frozen=True)
class CreateQuery(Statement):
    """A query with a name, and perhaps a sink for its results."""

    name: str
    query: exp.Expr
    sink: ConnectorCall | None = None


@dataclass(frozen=True)
class StartQuery(Statement):
    """Let a query run; `partial` if it may answer before it is complete."""

    name: str
    partial: bool = False


@dataclass(frozen=True)
class StopQuery(Statement):
    """Let a query rest."""

    name: str


@dataclass(frozen=True)
class AlterQuery(Statement):
    """Another definition for a query, or a better plan for the one it has (None)."""

    name: str
    query: exp.Expr | None = None


@dataclass(frozen=True)
class DropObject(Statement):
    """The removal of a stream, relation, view or query (`kind`)."""

    kind: str
    name: str


@dataclass(frozen=True)
class InsertInto(Statement):
    """A query whose results go to a sink."""

    sink: ConnectorCall
    query: exp.Expr


@dataclass(frozen=True)
class InsertValues(Statement):
    """Rows for a relation: expressions without columns, from an instant on (`at`)."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[exp.Tuple, ...]
    at: exp.Expr | None


@dataclass(frozen=True)
class DeleteFrom(Statement):
    """The rows of a relation that go, from an instant on (`at`)."""

    name: str
    where: exp.Expr | None
    at: exp.Expr | None


@dataclass(frozen=True)
class ShowObjects(Statement):
    """What there is of a `kind` (TABLES, QUERIES ...), or how a `name` was created."""

    kind: str
    name: str | None = None


@dataclass(frozen=True)
class DescribeName(Statement):
    """The columns of something."""

    name: str


@dataclass(frozen=True)
class ExplainQuery(Statement):
    """The plan of a query, or of the query of a `name`; `analyze` runs it and measures."""

    level: str
    analyze: bool
    query: exp.Expr | None = None
    name: str | None = None


Telling = ShowObjects | DescribeName | ExplainQuery
"""What changes nothing, and is answered with a table."""

Creation = CreateStream | CreateRelation | CreateDerived | CreateQuery
"""What gives something a name."""


def statement_of(tree: exp.Expr, sql: str, position: Position, source: Source) -> Statement:
    """Wrap a parsed tree in the statement that it is."""
    common = (tree, sql, position, source)
    if isinstance(tree, CreateSource):
        return _created(tree, sql, position, source)
    if isinstance(tree, CreateAs) and tree.text("kind") == "QUERY":
        return _named_query(tree, sql, position, source)
    if isinstance(tree, CommandQuery):
        if tree.text("verb") == "STOP":
            return StopQuery(*common, tree.name)
        return StartQuery(*common, tree.name, bool(tree.args.get("partial")))
    if isinstance(tree, AlterNamed):
        return AlterQuery(*common, tree.name, tree.args.get("expression"))
    if isinstance(tree, CreateAs):
        return CreateDerived(*common, tree.text("kind"), tree.name, tree.expression)
    if isinstance(tree, DropNamed):
        return DropObject(*common, tree.text("kind"), tree.name)
    if isinstance(tree, InsertSink):
        return InsertInto(*common, _call(tree.this), tree.expression)
    if isinstance(tree, InsertRows):
        columns = tuple(column.name for column in tree.args["columns"])
        return InsertValues(*common, tree.name, columns, tuple(tree.expressions), tree.args["at"])
    if isinstance(tree, DeleteRows):
        return DeleteFrom(*common, tree.name, tree.args["where"], tree.args["at"])
    if isinstance(tree, ShowNames | DescribeNamed | ExplainNamed):
        return _telling(tree, sql, position, source)
    return QueryStatement(*common)


def _telling(
    tree: ShowNames | DescribeNamed | ExplainNamed, sql: str, position: Position, source: Source
) -> Telling:
    common, name = (tree, sql, position, source), tree.name or None
    if isinstance(tree, ShowNames):
        return ShowObjects(*common, tree.text("kind"), name)
    if isinstance(tree, DescribeNamed):
        return DescribeName(*common, tree.name)
    level, analyze = tree.text("level").lower(), bool(tree.args.get("analyze"))
    return ExplainQuery(*common, level, analyze, tree.args.get("expression"), name)


def _named_query(tree: CreateAs, sql: str, position: Position, source: Source) -> Statement:
    inner, sink = tree.expression, None
    if isinstance(inner, InsertSink):
        inner, sink = inner.expression, _call(inner.this)
    return CreateQuery(tree, sql, position, source, tree.name, inner, sink)


def _created(tree: CreateSource, sql: str, position: Position, source: Source) -> Statement:
    args = tree.args
    common = (tree, sql, position, source, tree.name, tuple(tree.expressions))
    connector = _call(args["source"]) if args.get("source") else None
    if tree.text("kind") == "STREAM":
        clauses = ("ordered_by", "slack", "idle", "at_most", "retain", "ahead")
        return CreateStream(*common, connector, *(args.get(each) for each in clauses))
    ends = (args.get("valid_from"), args.get("valid_to"))
    return CreateRelation(*common, connector, *ends, bool(args.get("changing")))


def _call(tree: Connector) -> ConnectorCall:
    arguments = (e for e in tree.expressions if not isinstance(e, exp.Kwarg))
    options = (e for e in tree.expressions if isinstance(e, exp.Kwarg))
    return ConnectorCall(
        tree,
        ".".join(part.name for part in tree.this.find_all(exp.Identifier)),
        tuple(_value(argument) for argument in arguments),
        {option.this.name: _value(option.expression) for option in options},
    )


def _value(node: exp.Expr) -> OptionValue:
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    if isinstance(node, exp.Neg):
        value = _value(node.this)
        return -value if isinstance(value, (int, float)) else value
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Null):
        return None
    return int(node.name) if node.name.isdecimal() else float(node.name)
