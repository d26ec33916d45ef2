"""For tests of queries: compare results with snapshots."""

from tidemill.testing.snapshots import (
    Element,
    assert_snapshots_equal,
    elements,
    endpoints,
    snapshot_at,
)

__all__ = ["Element", "assert_snapshots_equal", "elements", "endpoints", "snapshot_at"]
