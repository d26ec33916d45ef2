"""How any plan is opened: node by node, equal parts once."""

from __future__ import annotations

from typing import ClassVar

from tidemill.algebra import Plan
from tidemill.catalog import Catalog
from tidemill.compose.layout import laid_out
from tidemill.compose.model import Composed, Level, Node
from tidemill.compose.opening.nodes import OpenSources, opened
from tidemill.timeline import TimeDomain


class Opening:
    """Turns plans of a level into composed ones."""

    level: ClassVar[Level]

    def __init__(self, catalog: Catalog, domain: TimeDomain | None) -> None:
        self.catalog = catalog
        self.domain = domain or TimeDomain.TICKS
        self._ids: dict[Plan, str] = {}
        self._nodes: list[Node] = []

    def composed(self, plan: Plan) -> Composed:
        """The whole plan, with a place for every node."""
        output = self._id(plan)
        return laid_out(Composed(self.level, tuple(self._nodes), output))

    def _id(self, plan: Plan) -> str:
        if plan not in self._ids:
            kind, settings, inputs = self.opened(plan)
            ids = tuple(self._id(part) for part in inputs)
            self._ids[plan] = f"n{len(self._nodes) + 1}"
            given = {name: value for name, value in settings.items() if value not in (None, "", [])}
            self._nodes.append(Node(self._ids[plan], kind, given, ids))
        return self._ids[plan]

    def opened(self, plan: Plan) -> OpenSources:
        """One node."""
        return opened(plan, self.domain)
