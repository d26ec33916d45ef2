"""From CREATE STREAM and CREATE RELATION to entries of the catalog."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Field, Range, Recurrence, Scalar, Schema, SourceKind
from tidemill.algebra.types import name_of
from tidemill.analyze.computed_columns import (
    computation,
    computed_columns,
    is_required,
    type_of_definition,
)
from tidemill.analyze.windows import duration
from tidemill.catalog.catalog import SourceInfo
from tidemill.errors import PlanError, nearest
from tidemill.sql import CreateRelation, CreateStream, error_at
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
    columns = _Columns.of(statement)
    if isinstance(statement, CreateRelation):
        found = _relation(statement, columns.all)
    else:
        found = _stream(statement, columns.all)
    return replace(
        found,
        declared=Schema(tuple(columns.brought)),
        computed=columns.computed,
        required=columns.required,
        declaration=statement.sql,
    )


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


@dataclass(frozen=True)
class _Columns:
    """The columns of a declaration, in its order; some are computed of the others."""

    all: list[Field]
    brought: list[Field]
    computed: dict[str, Scalar]
    required: tuple[str, ...]

    @staticmethod
    def of(statement: CreateStream | CreateRelation) -> _Columns:
        _check_names(statement)
        parts = [each for each in statement.columns if computation(each) is None]
        brought = [Field(each.name, type_of_definition(each)) for each in parts]
        computed = computed_columns(statement, brought)
        types = {f.name: f.type for f in brought} | {n: s.type for n, s in computed.items()}
        names = [each.name for each in statement.columns]
        required = tuple(each.name for each in statement.columns if is_required(each))
        return _Columns([Field(name, types[name]) for name in names], brought, computed, required)


def _check_names(statement: CreateStream | CreateRelation) -> None:
    seen: set[str] = set()
    # What tells when the rows of a relation hold is no part of them.
    ends = (
        (statement.valid_from, statement.valid_to) if isinstance(statement, CreateRelation) else ()
    )
    times = {end.name.casefold() for end in ends if end is not None}
    for definition in statement.columns:
        name = definition.name
        if name.casefold() in seen:
            help = "names differ by more than their case; rename one"
            raise error_at(PlanError, f"column `{name}` appears twice", definition, help)
        if name.casefold() in (VALID_FROM, VALID_TO) and name.casefold() not in times:
            help = "results carry their validity under this name; rename the column"
            raise error_at(PlanError, f"`{name}` is a reserved name", definition, help)
        seen.add(name.casefold())


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
