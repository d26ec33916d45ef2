"""The forms in which results reach a sink: intervals, changes, or the newest snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks.tables import in_order, time_type, user_table
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.changes import AT, CHANGE, DELETE, INSERT
from tidemill.physical.operators.net_changes import SIGN
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain

SNAPSHOT = "snapshot"
SNAPSHOT_AT = "snapshot_at"
WATERMARK = "watermark"

_ADDED = {
    "intervals": (VALID_FROM, VALID_TO),
    "live": (VALID_FROM, VALID_TO),
    "changes": (AT, CHANGE),
    SNAPSHOT: (SNAPSHOT_AT,),
}
"""The forms, and the columns that they add to those of the result."""

FORMS = tuple(_ADDED)


class Shape(Protocol):
    """How rows with their validity, as operators give them, become a table for users.

    `is_whole` says that the rows of a tick take the place of those before.
    """

    @property
    def form(self) -> str: ...

    @property
    def is_whole(self) -> bool: ...

    @property
    def columns(self) -> pa.Schema: ...

    def __call__(self, rows: pl.DataFrame) -> pa.Table: ...


def check_form(form: str, columns: Iterable[str]) -> None:
    """Refuse what is no form, or one whose columns the result has already."""
    if form not in _ADDED:
        raise ExecutionError(f"no form `{form}`", help=f"forms: {', '.join(FORMS)}")
    for name in sorted(set(_ADDED[form]) & set(columns)):
        raise ExecutionError(
            f"the result has a column `{name}`, which the form `{form}` needs",
            help=f"give it another name: SELECT {name} AS ...",
        )


def shaped(
    rows: pl.DataFrame, form: str, schema: Schema, domain: TimeDomain | None = None
) -> pa.Table:
    """Rows with their validity in a form; time becomes what the user knows it as.

    The rows are those of the plan of the form. Changes are put in order of their time; at one
    instant, what goes is before what comes.

    >>> rows = pl.DataFrame({"v": [7], "valid_from": [3], "valid_to": [OPEN_END]})
    >>> shaped(rows, "intervals", Schema.of(v=pa.int64())).to_pylist()
    [{'v': 7, 'valid_from': 3, 'valid_to': None}]
    >>> come = rows.with_columns(pl.lit("+").alias(SIGN))
    >>> shaped(come, "changes", Schema.of(v=pa.int64())).to_pylist()
    [{'v': 7, 'changed_at': 3, 'change': '+'}]
    """
    if form == "changes":
        at, change = pl.col(VALID_FROM).alias(AT), pl.col(SIGN).alias(CHANGE)
        changes = rows.select(*schema.names, at, change)
        gone, come = (changes.filter(pl.col(CHANGE) == sign) for sign in (DELETE, INSERT))
        ordered = pl.concat([gone, come]).sort(AT, maintain_order=True)
        return user_table(ordered, schema, domain, AT)
    if form == SNAPSHOT:
        # What holds for ever holds at no instant in particular.
        at = pl.when(pl.col(VALID_TO) != OPEN_END).then(VALID_FROM).alias(SNAPSHOT_AT)
        return user_table(rows.select(*schema.names, at), schema, domain, SNAPSHOT_AT)
    intervals = rows[[*schema.names, VALID_FROM, VALID_TO]]
    return user_table(intervals, schema, domain, VALID_FROM, VALID_TO)


def shaped_schema(form: str, schema: Schema, domain: TimeDomain | None = None) -> pa.Schema:
    """The columns of a table in a form.

    >>> shaped_schema("changes", Schema.of(v=pa.int64()), TimeDomain.MICROSECONDS).names
    ['v', 'changed_at', 'change']
    """
    kinds = {CHANGE: pa.string()}
    added = [(name, kinds.get(name, time_type(domain))) for name in _ADDED[form]]
    return pa.schema([*schema.to_arrow(), *added])


def late_shaped(
    rows: pl.DataFrame, time: str, schema: Schema, domain: TimeDomain | None = None
) -> pa.Table:
    """Late rows, with their time under its name, and the watermark that they missed.

    >>> rows = pl.DataFrame({"v": [7], "valid_from": [3], "valid_to": [5]})
    >>> late_shaped(rows, "ts", Schema.of(v=pa.int64())).to_pylist()
    [{'v': 7, 'ts': 3, 'watermark': 5}]
    """
    missed = pl.col(VALID_TO).alias(WATERMARK)
    late = rows.select(*schema.names, pl.col(VALID_FROM).alias(time), missed)
    return user_table(late, schema, domain, time, WATERMARK)


@dataclass(frozen=True)
class FormShape:
    """The shape of the results of a query in a form. It can be sent to other processes.

    Rows of a snapshot are in the `order` of the query.
    """

    form: str
    schema: Schema
    domain: TimeDomain | None = None
    order: tuple[SortKey, ...] = ()

    def __post_init__(self) -> None:
        check_form(self.form, self.schema.names)

    @property
    def is_whole(self) -> bool:
        return self.form == SNAPSHOT

    @property
    def is_by_row(self) -> bool:
        """Whether every row becomes another one, whatever other rows there are."""
        return self.form in ("intervals", "live")

    @property
    def columns(self) -> pa.Schema:
        return shaped_schema(self.form, self.schema, self.domain)

    def __call__(self, rows: pl.DataFrame) -> pa.Table:
        rows = in_order(rows, order=self.order) if self.is_whole and self.order else rows
        return shaped(rows, self.form, self.schema, self.domain)
