"""The room for answers: the forms of results, and the sinks that they go to."""

from tidemill.results.forms import FORMS, FormShape, Shape, check_form, shaped, shaped_schema
from tidemill.results.late import ARRIVED, LateShape, make_late_sink
from tidemill.results.making import make_sink
from tidemill.results.memory import MemorySink
from tidemill.results.places import Sink
from tidemill.results.requests import Callback, LateCallback, SinkRequest, Target
from tidemill.results.sink import PartSink, PartWriter, SparkWrite, TableSink
from tidemill.results.tables import in_order, user_table

__all__ = [
    "ARRIVED",
    "FORMS",
    "Callback",
    "FormShape",
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
