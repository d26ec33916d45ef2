"""Printing of the syntax tree, as text that parses to the same tree."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from tidemill.sql.nodes import (
    AlterNamed,
    Approximate,
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
    GranularityClause,
    HintCall,
    InsertRows,
    InsertSink,
    ObjectsClause,
    PlanText,
    RowCount,
    Shed,
    ShowNames,
    StreamFunction,
    StreamWindow,
    Unbounded,
    ValueRange,
    WindowTable,
)

__all__ = ["TidemillGenerator"]


def _duration(self: Any, node: Duration) -> str:
    number = node.text("this")
    return f"{number} {node.unit}{'' if node.value == 1 else 'S'}" if node.unit else number


def _window(self: Any, node: StreamWindow) -> str:
    columns = ", ".join(self.sql(column) for column in node.args.get("partition_by") or ())
    parts = [f"PARTITION BY {columns}" if columns else "", node.text("kind")]
    if node.args.get("min"):
        parts.append(f"MIN {self.sql(node, 'min')}, MAX {self.sql(node, 'max')}")
    parts.append(self.sql(node, "size"))
    for clause in ("slide", "delay"):
        parts.append(f"{clause.upper()} {self.sql(node, clause)}" if node.args.get(clause) else "")
    return f"WINDOW({' '.join(part for part in parts if part)})"


def _window_table(self: Any, node: WindowTable) -> str:
    data = node.args["data"]
    named = isinstance(data, exp.Table)
    sizes = [self.sql(node, name) for name in ("slide", "step", "size", "offset")]
    keys = ", ".join(self.sql(key) for key in node.args.get("partition_by") or ())
    rows = f"TABLE {self.sql(data)}" if named else self.sql(data)
    arguments = [
        f"{rows} PARTITION BY {keys}" if keys else rows,
        f"DESCRIPTOR({self.sql(node, 'timecol')})",
        *filter(None, sizes),
    ]
    return f"TABLE({node.text('kind')}({', '.join(arguments)}))"


def _granularity(self: Any, node: GranularityClause) -> str:
    if node.args.get("size"):
        return f"GRANULARITY({self.sql(node, 'size')})"
    return f"GRANULARITY(COARSEST {self.sql(node, 'coarsest')}, FINEST {self.sql(node, 'finest')})"


def _hint(self: Any, node: HintCall) -> str:
    parts = [self.sql(each) for each in node.expressions]
    unit = f" PER {node.text('unit')}" if node.args.get("unit") else ""
    if node.args.get("value"):
        parts.append(self.sql(node, "value") + unit)
    return node.text("kind") + (f"({', '.join(parts)})" if parts else "")


def _create(node: CreateAs | CreateSource) -> str:
    replace = " OR REPLACE" if node.args.get("replace") else ""
    exists = " IF NOT EXISTS" if node.args.get("exists") else ""
    return f"CREATE{replace} {node.text('kind')}{exists}"


def _create_source(self: Any, node: CreateSource) -> str:
    columns = ", ".join(self.sql(column) for column in node.expressions)
    text = f"{_create(node)} {self.sql(node, 'this')} ({columns})"
    text += f" SOURCE {self.sql(node, 'source')}" if node.args.get("source") else ""
    for key in ("ordered_by", "slack", "retain", "idle"):
        words = key.replace("_", " ").upper()
        text += f" {words} {self.sql(node, key)}" if node.args.get(key) else ""
    text += f" {self.sql(node, 'at_most')}" if node.args.get("at_most") else ""
    text += f" AT MOST {self.sql(node, 'ahead')} AHEAD" if node.args.get("ahead") else ""
    changing = bool(node.args.get("changing"))
    text += " CHANGING" if changing else ""
    if node.args.get("valid_from"):
        text += "" if changing else " VALID"
        text += f" FROM {self.sql(node, 'valid_from')} TO {self.sql(node, 'valid_to')}"
    return text


def _at_most(self: Any, node: AtMost) -> str:
    within = f" WITHIN {self.sql(node, 'within')}" if node.args.get("within") else ""
    columns = self.expressions(node, flat=True)
    return f"AT MOST {self.sql(node, 'this')} PER {columns}{within}"


def _approximate(self: Any, node: Approximate) -> str:
    given = self.sql(node, "confidence")
    return f"APPROXIMATE(confidence => {given})" if given else "APPROXIMATE"


def _value_range(self: Any, node: ValueRange) -> str:
    clipped = " CLIPPED" if node.args.get("clipped") else ""
    return f"BETWEEN {self.sql(node, 'this')} AND {self.sql(node, 'expression')}{clipped}"


def _objects(self: Any, node: ObjectsClause) -> str:
    columns = self.expressions(node, key="by", flat=True)
    return f"OBJECTS({self.expressions(node, flat=True)} BY {columns})"


def _insert_rows(self: Any, node: InsertRows) -> str:
    columns = ", ".join(self.sql(column) for column in node.args.get("columns") or ())
    rows = ", ".join(f"({self.expressions(row, flat=True)})" for row in node.expressions)
    name = self.sql(node, "this") + (f" ({columns})" if columns else "")
    return f"INSERT INTO {name} VALUES {rows}{_at(self, node)}"


def _delete_rows(self: Any, node: DeleteRows) -> str:
    where = f" WHERE {self.sql(node, 'where')}" if node.args.get("where") else ""
    return f"DELETE FROM {self.sql(node, 'this')}{where}{_at(self, node)}"


def _at(self: Any, node: exp.Expr) -> str:
    return f" AT {self.sql(node, 'at')}" if node.args.get("at") else ""


def _unnest(self: Any, node: exp.Unnest) -> str:
    alias, offset = node.args.get("alias"), node.args.get("offset")
    text = f"UNNEST({self.expressions(node, flat=True)}){' WITH ORDINALITY' if offset else ''}"
    if alias is None:
        return text
    names = [
        *(alias.args.get("columns") or ()),
        *([offset] if isinstance(offset, exp.Expr) else ()),
    ]
    columns = ", ".join(self.sql(name) for name in names)
    return f"{text} AS {self.sql(alias, 'this')}" + (f"({columns})" if columns else "")


def _shed(self: Any, node: Shed) -> str:
    by = f" BY {self.expressions(node, flat=True)}" if node.expressions else ""
    given = node.args.get("parameters") or []
    names = ", ".join(f"{each.name.lower()} => {self.sql(each, 'expression')}" for each in given)
    policy = node.text("policy").lower() + (f"({names})" if names else "")
    return f"SHED TO {self.sql(node, 'rows')} ROWS{by} USING {policy}"


def _create_as(self: Any, node: CreateAs) -> str:
    name = self.sql(node, "this")
    return f"{_create(node)} {name} AS {self.sql(node, 'expression')}"


def _named(self: Any, node: exp.Expr) -> str:
    exists = "IF EXISTS " if node.args.get("exists") else ""
    return exists + str(self.sql(node, "this"))


def _drop(self: Any, node: DropNamed) -> str:
    return f"DROP {node.text('kind')} {_named(self, node)}"


def _command(self: Any, node: CommandQuery) -> str:
    partial = " PARTIAL" if node.args.get("partial") else ""
    return f"{node.text('verb')} QUERY {_named(self, node)}{partial}"


def _alter(self: Any, node: AlterNamed) -> str:
    query = node.args.get("expression")
    change = f"AS {self.sql(query)}" if query else "OPTIMIZE"
    return f"ALTER QUERY {_named(self, node)} {change}"


def _show(self: Any, node: ShowNames) -> str:
    return f"SHOW {node.text('kind')} {self.sql(node, 'this')}".rstrip()


def _explain(self: Any, node: ExplainNamed) -> str:
    level = "ANALYZE" if node.args.get("analyze") else node.text("level")
    return f"EXPLAIN {level} {self.sql(node, 'expression') or self.sql(node, 'this')}"


class TidemillGenerator(SparkGenerator):
    """Spark's generator with windows, stream functions and Tidemill's statements."""

    TRANSFORMS = {
        **SparkGenerator.TRANSFORMS,
        # As they are written: for Spark they would be turned into what Spark has instead.
        exp.Select: lambda self, e: self.select_sql(e),
        exp.Unnest: _unnest,
        # Casts are strict here, so the two must not print alike as they do for Spark.
        exp.TryCast: lambda self, e: self.trycast_sql(e),
        AlterNamed: _alter,
        Approximate: _approximate,
        AtMost: _at_most,
        Connector: lambda self, e: f"{self.sql(e, 'this')}({self.expressions(e, flat=True)})",
        CommandQuery: _command,
        CreateAs: _create_as,
        CreateSource: _create_source,
        DeleteRows: _delete_rows,
        DescribeNamed: lambda self, e: f"DESCRIBE {self.sql(e, 'this')}",
        ExplainNamed: _explain,
        ShowNames: _show,
        DropNamed: _drop,
        Duration: _duration,
        GranularityClause: _granularity,
        HintCall: _hint,
        InsertSink: lambda self, e: (
            f"INSERT INTO {self.sql(e, 'this')} {self.sql(e, 'expression')}"
        ),
        InsertRows: _insert_rows,
        ObjectsClause: _objects,
        PlanText: lambda self, e: f"PLAN {self.sql(e, 'this')}",
        RowCount: lambda self, e: self.sql(e, "this"),
        Shed: _shed,
        StreamFunction: lambda self, e: f"{e.text('kind')}({self.sql(e, 'this')})",
        StreamWindow: _window,
        Unbounded: lambda self, e: "UNBOUNDED",
        ValueRange: _value_range,
        WindowTable: _window_table,
    }

    def after_limit_modifiers(self, expression: exp.Expr) -> list[str]:
        """Print what ends a query block."""
        modifiers: list[str] = super().after_limit_modifiers(expression)
        ends = (self.sql(expression, key) for key in ("approximate", "shed"))
        return [*modifiers, *(self.seg(end) for end in ends if end)]

    def columndef_sql(self, expression: exp.ColumnDef, sep: str = " ") -> str:
        """Print a column with the range of its values."""
        text = super().columndef_sql(expression, sep)
        if not expression.args.get("kind"):
            (constraint,) = expression.args["constraints"]
            return f"{self.sql(expression, 'this')} AS {self.sql(constraint.args['kind'], 'this')}"
        limits = self.sql(expression, "range")
        return f"{text} {limits}" if limits else text

    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        """Print a table with its window between alias and joins."""
        clauses = self._stream_clauses(expression)
        if not clauses:
            return super().table_sql(expression, sep)
        joins = self.expressions(expression, key="joins", sep="", flat=True)
        bare = expression.copy()
        bare.set("joins", None)
        return f"{super().table_sql(bare, sep)}{clauses}{joins}"

    def subquery_sql(self, expression: exp.Subquery, sep: str = " AS ") -> str:
        """Print a subquery with its window between alias and joins."""
        clauses = self._stream_clauses(expression)
        if not clauses:
            return super().subquery_sql(expression, sep)
        joins = "".join(self.sql(join) for join in expression.args.get("joins") or ())
        bare = expression.copy()
        bare.set("joins", None)
        return f"{super().subquery_sql(bare, sep)}{clauses}{joins}"

    def _stream_clauses(self, expression: exp.Expr) -> str:
        clauses = (self.sql(expression, key) for key in ("stream_window", "granularity"))
        return "".join(f" {clause}" for clause in clauses if clause)
