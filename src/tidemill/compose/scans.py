"""Sources and derived streams as parts of plans."""

from __future__ import annotations

from typing import Final

from tidemill.algebra import Field, Plan, Project, Schema
from tidemill.catalog import Derived, SourceInfo

LEAVE_OUT: Final = "leave out"
AS_COLUMN: Final = "as a column"


def derived_scan(entry: Derived, alias: str) -> Plan:
    """A stream or relation that a query defines, under an alias."""
    return Project.renaming(entry.plan, tuple(f"{alias}.{n}" for n in entry.schema.names))


def scan_columns(info: SourceInfo, with_time: bool) -> Schema:
    """The columns that a scan gives."""
    if not with_time or info.time_column is None:
        return info.schema
    return Schema((*info.schema, Field(info.time_column, info.time_type)))
