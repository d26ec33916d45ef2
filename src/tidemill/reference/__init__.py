"""The meaning of plans: every definition executed literally, instant by instant.

It is slow and obviously right, and shares nothing with the operators that it judges, except the
evaluation of scalar expressions.
"""

from tidemill.reference.arrival import in_time
from tidemill.reference.evaluate import evaluate
from tidemill.reference.scans import SourceData
from tidemill.reference.stream import LogicalStream, Row, Snapshot, canonical, canonical_row

__all__ = [
    "LogicalStream",
    "Row",
    "Snapshot",
    "SourceData",
    "canonical",
    "canonical_row",
    "evaluate",
    "in_time",
]
