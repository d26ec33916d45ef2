"""From logical plans to composed ones."""

from __future__ import annotations

from tidemill.algebra import (
    Plan,
    Policy,
    Project,
    StarJoin,
    TimeWindow,
)
from tidemill.analyze.windows import shown
from tidemill.compose.logical.shedding import OWN
from tidemill.compose.opening.base import Opening
from tidemill.compose.opening.nodes import OpenSources, Settings
from tidemill.compose.recognise import RecognisedObjects, objects_of, outer_join, source_of
from tidemill.compose.scans import AS_COLUMN
from tidemill.compose.texts import column_text, spelled
from tidemill.errors import UnsupportedError

_AS_SQL = "change the query as SQL"


class LogicalOpening(Opening):
    """Opens logical plans."""

    level = "logical"

    def opened(self, plan: Plan) -> OpenSources:
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

    def _objects(self, told: RecognisedObjects) -> OpenSources:
        window, is_time = told.window, isinstance(told.window, TimeWindow)
        settings: Settings = {
            "by": [column_text(key) for key in told.keys],
            "size": shown(window.first, self.domain) if is_time and window.first else "",
            "rows": None if is_time else window.first,
            "alias": "" if told.alias == "objects" else told.alias,
            "columns": [column_text(name) for name in told.columns],
        }
        return "objects", settings, told.streams

    def _starjoin(self, plan: Project, star: StarJoin) -> OpenSources:
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
