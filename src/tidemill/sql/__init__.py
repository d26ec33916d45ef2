"""The language: from text to syntax trees that know their place in the text."""

from tidemill.sql.dialect import Tidemill
from tidemill.sql.nodes import (
    STREAM_FUNCTIONS,
    UNIT_MICROS,
    Connector,
    CreateAs,
    CreateSource,
    DropNamed,
    Duration,
    Granularity,
    InsertSink,
    RowCount,
    StreamFunction,
    StreamWindow,
    Unbounded,
)
from tidemill.sql.parse import parse, parse_one
from tidemill.sql.source import Position, Source, error_at, position_of
from tidemill.sql.statements import (
    ConnectorCall,
    CreateDerived,
    CreateRelation,
    CreateStream,
    DropObject,
    InsertInto,
    OptionValue,
    QueryStatement,
    Statement,
)

__all__ = [
    "STREAM_FUNCTIONS",
    "UNIT_MICROS",
    "Connector",
    "ConnectorCall",
    "CreateAs",
    "CreateDerived",
    "CreateRelation",
    "CreateSource",
    "CreateStream",
    "DropNamed",
    "DropObject",
    "Duration",
    "Granularity",
    "InsertInto",
    "InsertSink",
    "OptionValue",
    "Position",
    "QueryStatement",
    "RowCount",
    "Source",
    "Statement",
    "StreamFunction",
    "StreamWindow",
    "Tidemill",
    "Unbounded",
    "error_at",
    "parse",
    "parse_one",
    "position_of",
]
