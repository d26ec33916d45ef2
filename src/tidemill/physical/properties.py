"""What is known about the validities in a stream, bottom-up through a physical plan.

- A chronon stream: every row holds for exactly one instant. Windows need such an input.
- End order: rows that start later do not end earlier, so state expires first in, first out.
- Coalesced: no row ends where an equal one starts, so there is nothing to merge.
"""

from __future__ import annotations

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.difference import DifferenceExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.intersection import IntersectionExec
from tidemill.physical.istream import DstreamExec, IstreamExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.project import ProjectExec
from tidemill.physical.ranking import RankExec
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.source import SourceExec
from tidemill.physical.split import SplitExec
from tidemill.physical.strict_difference import StrictDifferenceExec
from tidemill.physical.time_window import TimeWindowExec


def is_chronon(plan: Plan) -> bool:
    """Whether every row of the result holds for exactly one instant.

    >>> from tidemill.algebra import Scan, Schema
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> is_chronon(bid), is_chronon(TimeWindowExec(bid, 10))
    (True, False)
    """
    match plan:
        case SourceExec():
            return plan.scan.kind is SourceKind.STREAM
        case IstreamExec() | DstreamExec():
            return True
        case SplitExec():
            return plan.length == 1 or is_chronon(plan.child)
        case TimeWindowExec():
            return plan.size == 1 and plan.slide == 1 and plan.is_fixed
        case CountWindowExec() | MergeExec() | RankExec():
            return False
        case GranularityExec():
            return plan.granule == 1 and plan.is_fixed and is_chronon(plan.child)
        case CoalesceExec():
            return plan.max_length == 1 and is_chronon(plan.child)
        case JoinExec() | IntersectionExec():
            return any(is_chronon(child) for child in plan.children)
        case DifferenceExec() | StrictDifferenceExec() | LookupExec():
            return is_chronon(plan.left)
        case _:
            return all(is_chronon(child) for child in plan.children)


def has_end_order(plan: Plan) -> bool:
    """Whether the ends of rows come in the order of their starts.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.union import UnionExec
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> window = TimeWindowExec(bid, 10)
    >>> has_end_order(window), has_end_order(UnionExec(window, bid))
    (True, False)
    """
    if is_chronon(plan):
        return True
    match plan:
        case FilterExec() | ProjectExec() | RowNumberExec() | SplitExec():
            return has_end_order(plan.child)
        case GranularityExec():
            return plan.is_fixed and has_end_order(plan.child)
        case LookupExec():
            return has_end_order(plan.left)
        case TimeWindowExec():
            return plan.is_fixed  # after a window becomes smaller, new rows end before old ones
        case MergeExec():
            return not plan.keys
        case CountWindowExec():
            return not plan.partition_by and plan.is_fixed
        case AggregateExec():
            return not plan.keys
        case SourceExec():
            return plan.scan.kind is SourceKind.CONSTANT
        case _:
            return False


def is_coalesced(plan: Plan) -> bool:
    """Whether no row of the result ends where an equal one starts.

    >>> from tidemill.algebra import Scan, Schema
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> is_coalesced(TimeWindowExec(bid, 10)), is_coalesced(TimeWindowExec(bid, None))
    (False, True)
    """
    match plan:
        case CoalesceExec():
            return plan.max_length is None
        case FilterExec() | RowNumberExec():
            return is_coalesced(plan.child)
        case LookupExec():
            return is_coalesced(plan.left)
        case ProjectExec():
            kept = {item.node.name for _, item in plan.items if item.is_column}
            return kept == set(plan.child.schema.names) and is_coalesced(plan.child)
        # Rows that never end meet no other.
        case SourceExec():
            return plan.scan.kind is SourceKind.CONSTANT
        case TimeWindowExec():
            return plan.size is None
        case CountWindowExec():
            return plan.rows is None
        case _:
            return False
