"""For tests of queries: compare results with snapshots, on given data or at random."""

from tidemill.testing.check import Inputs, check_plan, check_result
from tidemill.testing.check_queries import check_query
from tidemill.testing.contract import Contract, ContractError
from tidemill.testing.random_data import RandomStream
from tidemill.testing.snapshots import (
    Element,
    assert_snapshots_equal,
    elements,
    endpoints,
    snapshot_at,
)

__all__ = [
    "Contract",
    "ContractError",
    "Element",
    "Inputs",
    "RandomStream",
    "assert_snapshots_equal",
    "check_plan",
    "check_query",
    "check_result",
    "elements",
    "endpoints",
    "snapshot_at",
]
