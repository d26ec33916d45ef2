"""Random plans in which streams meet relations of all kinds."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from tests.random.plans import COLUMNS, RELATION, SOURCES, PlanGenerator
from tidemill.algebra import VERSION, nodes
from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, equality
from tidemill.algebra.schema import Field, Schema

TEMPORAL, CHANGING = "epsilon", "zeta"
VERSIONED = Schema((*COLUMNS, Field(VERSION, pa.int64())))
"""The columns of a relation that changes."""


class RelationPlanGenerator(PlanGenerator):
    """Builds plans that look up relations, and use them as they use streams."""

    def _windowed_scan(self) -> Plan:
        return self._relation() if self._random.random() < 0.3 else super()._windowed_scan()

    def _relation(self) -> Plan:
        """A relation, perhaps filtered or projected."""
        alias = self._fresh("r")
        plan: Plan = self._random.choice(
            [
                nodes.Scan(RELATION, alias, COLUMNS, SourceKind.CONSTANT),
                nodes.Scan(TEMPORAL, alias, COLUMNS, SourceKind.INTERVALS),
                nodes.Scan(CHANGING, alias, VERSIONED, SourceKind.CHANGING),
                nodes.Scan(CHANGING, alias, VERSIONED, SourceKind.CHANGING),
            ]
        )
        if self._random.random() < 0.3:
            plan = nodes.Filter(plan, self._condition(plan.schema))
        if self._random.random() < 0.3:
            items = [(self._fresh("p"), self._expression(plan.schema)) for _ in range(3)]
            plan = nodes.Project(plan, tuple(items))
        return plan

    def _looked_up(self, depth: int) -> Plan:
        """Rows of one instant that find a relation, perhaps below a window."""
        left, relation = self._chronons(depth - 1), self._relation()
        kind = self._random.choice([nodes.Join, nodes.Join, nodes.SemiJoin, nodes.AntiJoin])
        if kind is nodes.Join and self._random.random() < 0.3:
            left, relation = relation, left
        plan = kind(left, relation, self._found(left, relation))
        return self._window(plan) if self._random.random() < 0.7 else plan

    def _found(self, left: Plan, right: Plan) -> Scalar | None:
        """As a rule, one pair of columns that are equal: so that many rows find others."""
        pairs = [(a, b) for a in left.schema for b in right.schema if a.type == b.type]
        if not pairs or self._random.random() < 0.3:
            return self._match(left.schema, right.schema)
        alike = [(a, b) for a, b in pairs if a.name.partition(".")[2] == b.name.partition(".")[2]]
        a, b = self._random.choice(alike or pairs)
        safe = self._random.random() < 0.2
        return equality(column(a.name, a.type), column(b.name, b.type), null_safe=safe)

    def _chronons(self, depth: int) -> Plan:
        """A stream, or the changes of something."""
        if depth == 0 or self._random.random() < 0.6:
            scan = nodes.Scan(self._random.choice(SOURCES), self._fresh("t"), COLUMNS)
            keep = self._random.random() < 0.7
            return scan if keep else nodes.Filter(scan, self._condition(scan.schema))
        return self._random.choice([nodes.Istream, nodes.Dstream])(self._narrow(self.plan(depth)))

    def _through_versions(self, depth: int) -> Plan:
        """Two streams that find the same row of a relation."""
        sides, versions = [], []
        for _ in range(2):
            relation = nodes.Scan(CHANGING, self._fresh("r"), VERSIONED, SourceKind.CHANGING)
            left = self._chronons(0)
            found = nodes.Join(left, relation, self._found(left, relation))
            sides.append(nodes.TimeWindow(found, self._random.choice([1, 3, 5, 8])))
            versions.append(column(relation.schema.names[-1], pa.int64()))
        return nodes.Join(sides[0], sides[1], equality(versions[0], versions[1]))

    _OPERATORS: tuple[Callable[[RelationPlanGenerator, int], Plan], ...] = (  # type: ignore[assignment]
        *PlanGenerator._OPERATORS,
        *[_looked_up] * 8,
        *[_through_versions] * 2,
    )
