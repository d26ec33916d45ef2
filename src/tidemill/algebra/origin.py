"""Where a column comes from."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar

Origin = tuple[str, str]
"""The name of a source, and of one of its columns."""


@runtime_checkable
class _Leaf(Protocol):
    """The leaf of a physical plan."""

    @property
    def scan(self) -> Scan: ...


@runtime_checkable
class _Projection(Protocol):
    """A projection in a logical or physical plan."""

    @property
    def items(self) -> tuple[tuple[str, Scalar], ...]: ...


def origin_of(plan: Plan, name: str) -> Origin | None:
    """The column of a source that a column of a plan shows; None if it is computed.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Project, Schema, column
    >>> scan = Scan("bid", "b", Schema.of(item=pa.int64()))
    >>> origin_of(Project(scan, (("i", column("b.item", pa.int64())),)), "i")
    ('bid', 'item')
    """
    if isinstance(plan, Scan | _Leaf):
        scan = plan if isinstance(plan, Scan) else plan.scan
        found = (field.name for field in scan.columns if f"{scan.alias}.{field.name}" == name)
        return next(((scan.source, each) for each in found), None)
    if isinstance(plan, _Projection):
        scalar = dict(plan.items).get(name)
        below = plan.children[0]
        return origin_of(below, scalar.node.name) if scalar and scalar.is_column else None
    origins = {origin_of(child, name) for child in plan.children if name in child.schema}
    return origins.pop() if len(origins) == 1 else None
