"""For tests of queries: what they mean, instant by instant, and whether answers are just that."""

from tidemill.testing.reference import check_query, check_result, reference
from tidemill.testing.snapshots import (
    Element,
    assert_snapshots_equal,
    elements,
    endpoints,
    snapshot_at,
)

__all__ = [
    "Element",
    "assert_snapshots_equal",
    "check_query",
    "check_result",
    "elements",
    "endpoints",
    "reference",
    "snapshot_at",
]
