"""How any plan is opened: node by node, equal parts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tidemill.algebra import Plan
from tidemill.analyze import Catalog
from tidemill.compose.layout import laid_out
from tidemill.compose.model import Composed, Level, Node, Value
from tidemill.errors import UnsupportedError
from tidemill.timeline import TimeDomain

Settings = dict[str, Value]
Opened = tuple[str, Settings, tuple[Plan, ...]]
"""A kind of node, its settings, and its inputs."""


class Opening:
    """Turns plans of a level into composed ones.

    A method named like a node, in lower case, opens such nodes; `plain` are the kinds of nodes
    that have no settings, by the names of theirs.
    """

    level: ClassVar[Level]
    plain: ClassVar[dict[str, str]]

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

    def opened(self, plan: Plan) -> Opened:
        """One node."""
        for kind in type(plan).__mro__:
            name = f"_{kind.__name__.lower()}"
            rule: Callable[[Any], Opened] | None = getattr(self, name, None)
            if rule is not None:
                return rule(plan)
        if (known := self.plain.get(type(plan).__name__)) is not None:
            return known, {}, plan.children
        other = "logical" if self.level == "physical" else "physical"
        message = f"{type(plan).__name__} cannot be composed by hand"
        raise UnsupportedError(message, help=f"open the {other} plan of the query")
