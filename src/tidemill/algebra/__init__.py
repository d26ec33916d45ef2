"""The logical algebra: plans, their schemas and expressions. It knows no engine."""

from tidemill.algebra.aggregates import AggregateCall, UserAggregate
from tidemill.algebra.nodes import (
    VERSION,
    Aggregate,
    AntiJoin,
    CountWindow,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Istream,
    Join,
    MultiJoin,
    Project,
    Rstream,
    Scan,
    SemiJoin,
    SessionWindow,
    SortKey,
    SourceKind,
    TimeWindow,
    TopK,
)
from tidemill.algebra.over_rows import OverCall, OverRows, RowFrame
from tidemill.algebra.plan import Plan, render
from tidemill.algebra.promises import Range, Recurrence
from tidemill.algebra.ranking import Promise, Ranked, Ranking, Strategy
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.schema import Field, Schema
from tidemill.algebra.sets import (
    Difference,
    Intersection,
    MaxUnion,
    StrictDifference,
    Union,
)
from tidemill.algebra.star import Policy, Shedding, StarJoin
from tidemill.algebra.unnest import Unnest

__all__ = [
    "VERSION",
    "Aggregate",
    "AggregateCall",
    "AntiJoin",
    "CountWindow",
    "Difference",
    "Distinct",
    "Dstream",
    "Field",
    "Filter",
    "Granularity",
    "Intersection",
    "Istream",
    "Join",
    "MaxUnion",
    "MultiJoin",
    "OverCall",
    "OverRows",
    "Plan",
    "Policy",
    "Project",
    "Promise",
    "Range",
    "Ranked",
    "Ranking",
    "Recurrence",
    "RowFrame",
    "Rstream",
    "Scalar",
    "Scan",
    "Schema",
    "SemiJoin",
    "SessionWindow",
    "Shedding",
    "SortKey",
    "SourceKind",
    "StarJoin",
    "Strategy",
    "StrictDifference",
    "TimeWindow",
    "TopK",
    "Union",
    "Unnest",
    "UserAggregate",
    "column",
    "render",
]
