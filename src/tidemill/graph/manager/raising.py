"""What operators do, in the words of the cost model.

The cost model estimates logical plans. A running graph consists of operators, which are shared,
replaced and resized one by one. So every operator is given the logical node that it stands for:
then estimates can be compared with what exactly this operator was measured to keep.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.algebra.star import StarJoin
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.counting import CountingExec
from tidemill.physical.difference import DifferenceExec
from tidemill.physical.distinct import DistinctExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.intersection import IntersectionExec
from tidemill.physical.istream import DstreamExec, IstreamExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec, LookupKind
from tidemill.physical.max_union import MaxUnionExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.ranking import RankExec
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.source import SourceExec
from tidemill.physical.split import SplitExec
from tidemill.physical.star import StarJoinExec
from tidemill.physical.strict_difference import StrictDifferenceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.topk import TopKExec
from tidemill.physical.union import UnionExec

_SETS: dict[type[CountingExec], type[nodes.SetOperation]] = {
    DifferenceExec: nodes.Difference,
    IntersectionExec: nodes.Intersection,
    MaxUnionExec: nodes.MaxUnion,
    StrictDifferenceExec: nodes.StrictDifference,
}

_LOOKUPS: dict[LookupKind, type[nodes.Join | nodes.SemiJoin | nodes.AntiJoin]] = {
    LookupKind.INNER: nodes.Join,
    LookupKind.SEMI: nodes.SemiJoin,
    LookupKind.ANTI: nodes.AntiJoin,
}


def raised(node: Exec, inputs: Sequence[Plan]) -> Plan | None:
    """The logical node of an operator over those of its inputs.

    None if its rows are those of its last input, and it keeps nothing that would be estimated.
    """
    match node:
        case SourceExec():
            return node.scan
        case RankExec():
            return Ranking(inputs[0], node.ranked)
        case UnionExec():
            return nodes.Union(*inputs)
        case CountingExec():
            return _SETS[type(node)](*inputs)
    return _of_one(node, inputs[0]) if len(inputs) == 1 else _of_many(node, inputs)


def _of_one(node: Exec, child: Plan) -> Plan | None:
    match node:
        case FilterExec():
            return nodes.Filter(child, node.predicate)
        case ProjectExec():
            return nodes.Project(child, node.items)
        case RowNumberExec():
            items = [(field.name, column(field.name, field.type)) for field in node.schema]
            return nodes.Project(child, tuple(items))
        case TimeWindowExec():
            return nodes.TimeWindow(child, node.size, node.slide, changes=node.changes)
        case CountWindowExec():
            by, changes = node.partition_by, node.changes
            return nodes.CountWindow(child, node.rows, node.slide, by, changes=changes)
        case GranularityExec():
            return nodes.Granularity(child, node.granule, changes=node.changes)
        case AggregateExec():
            return nodes.Aggregate(child, node.keys, node.calls)
        case TopKExec():
            return nodes.TopK(child, node.order, node.limit, node.offset)
        case DistinctExec():
            return nodes.Distinct(_only(child, node.keys))
    kinds = {SplitExec: nodes.Rstream, IstreamExec: nodes.Istream, DstreamExec: nodes.Dstream}
    return kinds[type(node)](child) if type(node) in kinds else None


def _of_many(node: Exec, inputs: Sequence[Plan]) -> Plan | None:
    match node:
        case JoinExec():
            return nodes.MultiJoin(tuple(inputs), node.keys, node.conditions, node.orders)
        case LookupExec():
            left, relation = inputs
            return _LOOKUPS[node.kind](left, relation, _lookup_condition(node))
        case AggregateExec():
            # What counts distinct values reads inputs of its own, with estimates of their own.
            calls = tuple(call for call in node.calls if not call.distinct)
            return nodes.Aggregate(inputs[0], node.keys, calls)
        case StarJoinExec():
            *streams, relation = inputs
            keys = (node.stream_keys, node.relation_keys)
            return StarJoin(tuple(streams), relation, *keys, node.shedding, node.conditions)
    return None


def _lookup_condition(node: LookupExec) -> Scalar | None:
    left, right = (
        [column(name, side.schema[name]) for name in names]
        for names, side in zip(node.keys, (node.left, node.relation), strict=True)
    )
    equal = [equality(one, other) for one, other in zip(left, right, strict=True)]
    return conjunction(*equal, *node.conditions)


def _only(child: Plan, names: tuple[str, ...]) -> Plan:
    """Some columns; those that the cost model knows nothing of are numbers of rows."""
    if names == child.schema.names:
        return child
    types = {field.name: field.type for field in child.schema}
    items = ((name, column(name, types.get(name, pa.int64()))) for name in names)
    return nodes.Project(child, tuple(items))
