"""What several streams tell about objects."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import Field, Plan, Scan, Schema
from tidemill.algebra.nodes import entries
from tidemill.analyze.objects import plan_objects
from tidemill.analyze.scope import Item
from tidemill.catalog import SourceInfo
from tidemill.compose.bench import Bench
from tidemill.compose.logical.windows import length_of, rows_of
from tidemill.compose.model import Wrong, about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.recognise import source_of
from tidemill.compose.texts import short
from tidemill.errors import TidemillError
from tidemill.sql import ObjectsClause, StreamWindow


def _objects(bench: Bench) -> Plan:
    items = [_item(bench, number) for number in range(len(bench.inputs))]
    by = [exp.to_identifier(short(name)) for name in _names(bench, "by")]
    streams = [item.node.copy() for item in items]
    table = exp.Table(this=ObjectsClause(expressions=streams, by=by))
    if alias := bench.text("alias"):
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    table.set("stream_window", _window(bench))
    wanted = [node for _, node in bench.expressions("columns")]
    select = exp.Select(expressions=wanted or [exp.Star()])
    try:
        return plan_objects(table, items, bench.context, select).plan
    except TidemillError as error:
        raise Wrong(error) from None


def _names(bench: Bench, name: str) -> list[str]:
    return [node.name for _, node in bench.expressions(name)]


def _item(bench: Bench, number: int) -> Item:
    plan = bench.inputs[number].plan
    aliases = entries(plan)
    if len(aliases) != 1 or any("." not in name for name in plan.schema.names):
        message = "an input of Objects is a stream, with an alias for its columns"
        raise wrong(message, "put it directly on a Scan, or on Filters above one", input=number)
    (alias,) = aliases
    columns = Schema(tuple(Field(short(field.name), field.type) for field in plan.schema))
    scans = [node for node in plan.walk() if isinstance(node, Scan)]
    infos = [bench.catalog.find(scan.source) for scan in scans]
    times = {info.time_column for info in infos if isinstance(info, SourceInfo)}
    hidden = frozenset(name for name in columns.names if name in times)
    known = source_of(plan, bench.catalog)
    node = exp.Table(this=exp.to_identifier(alias))
    source = known.name if known is not None else None
    return Item(alias, alias, plan, columns, node, hidden, source=source)


def _window(bench: Bench) -> StreamWindow:
    size = length_of(bench, "size")
    if size is not None:
        return StreamWindow(kind="RANGE", size=size)
    with about("rows"):
        rows = bench.integer("rows", 1)
    if rows is None:
        raise wrong("Size is missing, or Rows", "for example 100", "size")
    return StreamWindow(kind="ROWS", size=rows_of(rows))


OPERATORS = (
    Card(
        "objects",
        "Objects",
        "ranking",
        "Combines what several streams say about each object, such as a score.",
        _objects,
        (
            Setting(
                "by",
                "By",
                "columns",
                "The columns that identify an object; every stream has them.",
                "id",
                required=True,
            ),
            Setting("size", "Size", "duration", "How long a row counts.", "100"),
            Setting("rows", "Rows", "integer", "Or how many of the last rows count.", "100"),
            Setting("alias", "Alias", "text", "The name of the result.", "objects"),
            Setting(
                "columns",
                "Columns",
                "columns",
                "The numbers to sum up for each object; by default all.",
                "a.speed, b.speed",
            ),
        ),
        1,
        8,
    ),
)
