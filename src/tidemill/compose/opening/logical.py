"""From logical plans to composed ones."""

from __future__ import annotations

from typing import ClassVar

from tidemill.algebra import (
    Aggregate,
    CountWindow,
    Filter,
    Granularity,
    Plan,
    Policy,
    Project,
    StarJoin,
    TimeWindow,
    TopK,
)
from tidemill.algebra.nodes import Conditional
from tidemill.algebra.ranking import CONFIDENCE
from tidemill.analyze.windows import shown
from tidemill.compose.logical.shedding import OWN
from tidemill.compose.opening.base import Opened, Opening, Settings
from tidemill.compose.opening.said import call_text, order_text, typed
from tidemill.compose.recognise import Told, objects_of, outer_join, source_of
from tidemill.compose.scans import AS_COLUMN
from tidemill.compose.texts import column_text, scalar_text, spelled
from tidemill.errors import UnsupportedError

_AS_SQL = "change the query as SQL"


class LogicalOpening(Opening):
    """Opens logical plans."""

    level = "logical"
    plain: ClassVar = {
        "Distinct": "distinct",
        "Istream": "istream",
        "Dstream": "dstream",
        "Rstream": "rstream",
        "Union": "union",
        "Difference": "difference",
        "StrictDifference": "strict_difference",
        "Intersection": "intersection",
        "MaxUnion": "max_union",
    }

    def opened(self, plan: Plan) -> Opened:
        """One node; what is one thing to a user is one."""
        if (source := source_of(plan, self.catalog)) is not None:
            alias = "" if source.alias == source.name else source.alias
            time = AS_COLUMN if source.with_time else ""
            return "scan", {"source": source.name, "alias": alias, "time": time}, ()
        if (outer := outer_join(plan)) is not None:
            left, right, condition, side = outer
            text = "TRUE" if condition is None else spelled(condition.node)
            return "outer_join", {"side": side.lower(), "condition": text}, (left, right)
        if (told := objects_of(plan, self.catalog)) is not None:
            return self._objects(told)
        if isinstance(plan, Project) and isinstance(plan.child, StarJoin):
            return self._starjoin(plan, plan.child)
        return super().opened(plan)

    def _objects(self, told: Told) -> Opened:
        window, is_time = told.window, isinstance(told.window, TimeWindow)
        settings: Settings = {
            "by": [column_text(key) for key in told.keys],
            "size": shown(window.first, self.domain) if is_time and window.first else "",
            "rows": None if is_time else window.first,
            "alias": "" if told.alias == "objects" else told.alias,
            "columns": [column_text(name) for name in told.columns],
        }
        return "objects", settings, told.streams

    def _starjoin(self, plan: Project, star: StarJoin) -> Opened:
        """A join that sheds rows has a projection above it, to the columns of its inputs."""
        names = [field.name for field in star.schema if not field.name.startswith(OWN)]
        if set(names) != {name for name, scalar in plan.items if scalar.is_column}:
            raise UnsupportedError("this join cannot be composed by hand", help=_AS_SQL)
        shedding, condition = star.shedding, star.condition
        settings: Settings = {
            "condition": "" if condition is None else spelled(condition.node),
            "rows": shedding.rows,
            "importances": [column_text(name) for name in shedding.importances if name],
            "policy": shedding.policy.value,
        }
        if shedding.policy is Policy.DGL:
            settings |= {"alpha": shedding.alpha, "beta": shedding.beta}
        if shedding.policy is Policy.RANDOM:
            settings["seed"] = shedding.seed
        return "shed_join", settings, star.children

    def _timewindow(self, plan: TimeWindow) -> Opened:
        slide = "" if plan.slide == 1 else shown(plan.slide, self.domain)
        if plan.size is None:
            return "unbounded_window", {"slide": slide}, plan.children
        least = shown(plan.bounds.low, self.domain) if plan.bounds else ""
        settings: Settings = {
            "size": shown(plan.size, self.domain),
            "slide": slide,
            "least": least,
        }
        return "time_window", settings, plan.children

    def _countwindow(self, plan: CountWindow) -> Opened:
        settings: Settings = {
            "rows": "UNBOUNDED" if plan.rows is None else plan.rows,
            "slide": None if plan.slide == 1 else plan.slide,
            "least": plan.bounds.low if plan.bounds else None,
        }
        if not plan.partition_by:
            return "count_window", settings, plan.children
        by: Settings = {"by": [column_text(name) for name in plan.partition_by]}
        return "partitioned_window", by | settings, plan.children

    def _granularity(self, plan: Granularity) -> Opened:
        coarsest = shown(plan.bounds.high, self.domain) if plan.bounds else ""
        settings: Settings = {"granule": shown(plan.granule, self.domain), "coarsest": coarsest}
        return "granularity", settings, plan.children

    def _filter(self, plan: Filter) -> Opened:
        return "filter", {"condition": spelled(plan.predicate.node)}, plan.children

    def _project(self, plan: Project) -> Opened:
        columns = [scalar_text(typed(scalar), name) for name, scalar in plan.items]
        return "project", {"columns": columns}, plan.children

    def _aggregate(self, plan: Aggregate) -> Opened:
        keys = [column_text(key) for key in plan.keys]
        calls = [call_text(call) for call in plan.calls]
        return "aggregate", {"keys": keys, "aggregates": calls}, plan.children

    def _topk(self, plan: TopK) -> Opened:
        settings: Settings = {
            "order": [order_text(key) for key in plan.order],
            "limit": plan.limit,
            "offset": plan.offset or None,
        }
        if plan.approximate is not None:
            settings["answer"] = "approximate"
            usual = plan.approximate == CONFIDENCE
            settings["confidence"] = None if usual else plan.approximate
        return "top", settings, plan.children

    def _conditional(self, plan: Conditional, kind: str) -> Opened:
        text = "" if plan.condition is None else spelled(plan.condition.node)
        return kind, {"condition": text}, plan.children

    def _join(self, plan: Conditional) -> Opened:
        return self._conditional(plan, "join")

    def _semijoin(self, plan: Conditional) -> Opened:
        return self._conditional(plan, "semi_join")

    def _antijoin(self, plan: Conditional) -> Opened:
        return self._conditional(plan, "anti_join")
