"""The room for answers: the forms of results, and the sinks that they go to."""

from tidemill.connectors.sinks.forms import (
    FORMS,
    FormShape,
    Shape,
    check_form,
    shaped,
    shaped_schema,
)
from tidemill.connectors.sinks.function import FunctionSink
from tidemill.connectors.sinks.late import ARRIVED, LateShape, make_late_sink
from tidemill.connectors.sinks.making import make_sink
from tidemill.connectors.sinks.memory import MemorySink
from tidemill.connectors.sinks.requests import Callback, LateCallback, SinkRequest, Target
from tidemill.connectors.sinks.sink import PartSink, PartWriter, SparkWrite, TableSink
from tidemill.connectors.sinks.tables import in_order, user_table
from tidemill.connectors.sinks.writable import Sink

__all__ = [
    "ARRIVED",
    "FORMS",
    "Callback",
    "FormShape",
    "FunctionSink",
    "LateCallback",
    "LateShape",
    "MemorySink",
    "PartSink",
    "PartWriter",
    "Shape",
    "Sink",
    "SinkRequest",
    "SparkWrite",
    "TableSink",
    "Target",
    "check_form",
    "in_order",
    "make_late_sink",
    "make_sink",
    "shaped",
    "shaped_schema",
    "user_table",
]
