"""From CREATE STREAM and CREATE RELATION to entries of the catalog."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Field, Range, Recurrence, Schema, SourceKind
from tidemill.algebra.types import UnknownType, from_sql, name_of
from tidemill.analyze.windows import duration
from tidemill.catalog.catalog import SourceInfo
from tidemill.errors import PlanError, nearest
from tidemill.sql import CreateRelation, CreateStream, Tidemill, error_at
from tidemill.timeline import VALID_FROM, VALID_TO, TimeDomain

_TIME_HELP = "time is BIGINT (ticks) or TIMESTAMP"


def source_from_statement(statement: CreateStream | CreateRelation) -> SourceInfo:
    """The catalog entry of a declared source.

    >>> from tidemill.sql import parse_one
    >>> sql = "CREATE STREAM bid (item BIGINT, ts TIMESTAMP) SOURCE csv(path => 'b') ORDERED BY ts"
    >>> info = source_from_statement(parse_one(sql))
    >>> str(info.schema), info.time_column, info.domain.value
    ('item BIGINT', 'ts', 'TIMESTAMP')
    """
    columns = _columns(statement)
    if isinstance(statement, CreateRelation):
        found = _relation(statement, columns)
    else:
        found = _stream(statement, columns)
    return replace(found, declaration=statement.sql)


def _stream(statement: CreateStream, columns: list[Field]) -> SourceInfo:
    connector = statement.connector
    # Without ORDERED BY the system's clock gives the time.
    time = _time_field(statement.ordered_by, columns) if statement.ordered_by else None
    domain = _domain(time.type) if time else TimeDomain.MICROSECONDS
    return SourceInfo(
        name=statement.name,
        schema=_payload(statement, columns, [time] if time else []),
        kind=SourceKind.STREAM,
        domain=domain,
        time_column=time.name if time else None,
        time_type=time.type if time else None,
        slack=duration(statement.slack, domain, "SLACK") if statement.slack else 0,
        retain=duration(statement.retain, domain, "RETAIN") if statement.retain else None,
        ahead=_ahead(statement, domain),
        idle=statement.idle.micros / 1_000_000 if statement.idle else None,
        declared=Schema(tuple(columns)),
        format=connector.format if connector else None,
        arguments=connector.arguments if connector else (),
        options=connector.options if connector else {},
        ranges=_ranges(statement, columns),
        recurs=_recurrence(statement, columns, domain),
    )


def _ahead(statement: CreateStream, domain: TimeDomain) -> int | None:
    if statement.ahead is None:
        return None
    if statement.ordered_by is None:
        help = "leave it out, or write ORDERED BY before it"
        message = "AT MOST ... AHEAD needs a time: rows of this stream hold when they come"
        raise error_at(PlanError, message, statement.tree, help)
    return duration(statement.ahead, domain, "AT MOST ... AHEAD")


def _ranges(statement: CreateStream, columns: list[Field]) -> dict[str, Range]:
    types = {field.name: field.type for field in columns}
    found = {}
    for definition in statement.columns:
        if (node := definition.args.get("range")) is not None:
            low, high = (_number(node.args[end]) for end in ("this", "expression"))
            limits = Range(low, high, bool(node.args.get("clipped"))) if low <= high else None
            if limits is None:
                raise error_at(PlanError, "the range has no values", node, "swap its ends")
            if (reason := limits.refused(types[definition.name])) is not None:
                message = f"column `{definition.name}` cannot have this range: {reason}"
                raise error_at(PlanError, message, node, "write for example BETWEEN 0 AND 1")
            found[definition.name] = limits
    return found


def _number(node: exp.Expr) -> float:
    value = float(node.this.name if isinstance(node, exp.Neg) else node.name)
    return -value if isinstance(node, exp.Neg) else value


def _recurrence(
    statement: CreateStream, columns: list[Field], domain: TimeDomain
) -> Recurrence | None:
    if (node := statement.at_most) is None:
        return None
    per = tuple(_named(name, columns).name for name in node.expressions)
    within = node.args.get("within")
    length = None if within is None else duration(within, domain, "WITHIN")
    return Recurrence(node.this.value, per, length)


def _relation(statement: CreateRelation, columns: list[Field]) -> SourceInfo:
    for definition in statement.columns:
        if (limits := definition.args.get("range")) is not None:
            raise error_at(PlanError, "ranges of values belong to streams", limits, "remove it")
    ends = [statement.valid_from, statement.valid_to]
    validity = [_time_field(end, columns) for end in ends if end is not None]
    if len({field.type for field in validity}) > 1:
        message = f"`{validity[0].name}` and `{validity[1].name}` have different types"
        raise error_at(PlanError, message, ends[1], _TIME_HELP)
    connector = statement.connector
    return SourceInfo(
        name=statement.name,
        schema=_payload(statement, columns, validity),
        kind=_kind(statement.changing, bool(validity)),
        domain=_domain(validity[0].type) if validity else None,
        bounded=statement.changing or not validity,
        declared=Schema(tuple(columns)),
        format=connector.format if connector else None,
        arguments=connector.arguments if connector else (),
        options=connector.options if connector else {},
        valid_from=validity[0].name if validity else None,
        valid_to=validity[1].name if validity else None,
    )


def _kind(changing: bool, has_validity: bool) -> SourceKind:
    if changing:
        return SourceKind.CHANGING
    return SourceKind.INTERVALS if has_validity else SourceKind.CONSTANT


def _columns(statement: CreateStream | CreateRelation) -> list[Field]:
    columns: list[Field] = []
    for definition in statement.columns:
        name = definition.name
        if name.casefold() in (field.name.casefold() for field in columns):
            help = "names differ by more than their case; rename one"
            raise error_at(PlanError, f"column `{name}` appears twice", definition, help)
        if name.casefold() in (VALID_FROM, VALID_TO):
            help = "results carry their validity under this name; rename the column"
            raise error_at(PlanError, f"`{name}` is a reserved name", definition, help)
        columns.append(Field(name, _type(definition)))
    return columns


def _type(definition: exp.ColumnDef) -> pa.DataType:
    kind = definition.args["kind"]
    try:
        return from_sql(kind)
    except UnknownType:
        text = kind.sql(dialect=Tidemill)
        message = f"column `{definition.name}` has the unknown type `{text}`"
        help = "types: BOOLEAN, INT, BIGINT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP, ..."
        raise error_at(PlanError, message, definition, help) from None


def _time_field(name: exp.Identifier, columns: list[Field]) -> Field:
    found = _named(name, columns)
    if not (pa.types.is_integer(found.type) or pa.types.is_timestamp(found.type)):
        message = f"`{name.name}` is {name_of(found.type)} and cannot give the time"
        raise error_at(PlanError, message, name, _TIME_HELP)
    return found


def _named(name: exp.Identifier, columns: list[Field]) -> Field:
    found = [field for field in columns if field.name.casefold() == name.name.casefold()]
    if not found:
        names = [field.name for field in columns]
        near = nearest(name.name, names)
        guess = f"did you mean `{near}`? " if near else ""
        help = f"{guess}columns: {', '.join(names)}"
        raise error_at(PlanError, f"unknown column `{name.name}`", name, help)
    return found[0]


def _domain(time_type: pa.DataType) -> TimeDomain:
    return TimeDomain.TICKS if pa.types.is_integer(time_type) else TimeDomain.MICROSECONDS


def _payload(
    statement: CreateStream | CreateRelation, columns: list[Field], times: list[Field]
) -> Schema:
    payload = tuple(field for field in columns if field not in times)
    if not payload:
        message = f"`{statement.name}` has no column besides its time"
        raise error_at(PlanError, message, statement.columns[0], "add a column")
    return Schema(payload)
