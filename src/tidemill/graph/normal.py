"""Equal names for equal things, so that plans of different queries have parts in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.scalar import Scalar
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec


def normal(plan: Exec) -> Exec:
    """The plan with the columns of a source under its name, whatever the query calls it.

    A source that the query reads under two names keeps them.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Schema
    >>> from tidemill.physical.operators.distinct import DistinctExec
    >>> bid = SourceExec(Scan("bid", "b", Schema.of(item=pa.int64())))
    >>> print(normal(DistinctExec(bid, bid.schema.names)))
    01 DistinctExec
    02   SourceExec bid columns=[item]
    """
    names = _new_names(plan)
    if not names:
        return plan
    renamed: Exec = _Renaming(names).plan(plan)
    return renamed


def _new_names(plan: Exec) -> dict[str, str]:
    """For columns of sources with an alias, the names that they should have."""
    scans = {node.scan for node in plan.walk() if isinstance(node, SourceExec)}
    aliases: defaultdict[str, set[str]] = defaultdict(set)
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for scan in scans:
        aliases[scan.source].add(scan.alias)
        sources[scan.alias].add(scan.source)
    used = {name for node in plan.walk() for name in node.schema.names}
    found: dict[str, str] = {}
    for scan in scans:
        alone = len(aliases[scan.source]) == 1 and len(sources[scan.alias]) == 1
        taken = any(name.startswith(f"{scan.source}.") for name in used)
        if scan.alias != scan.source and alone and not taken:
            names = scan.columns.names
            found |= {f"{scan.alias}.{name}": f"{scan.source}.{name}" for name in names}
    return found


class _Renaming:
    """Replaces names of columns wherever they stand in a plan."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self.plan: Memo[Plan, Any] = Memo(self._changed)

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self._names.get(value, value)
            case Scan():
                return self._scan(value)
            case Plan():
                return self.plan(value)
            case Scalar():
                return value.rename(self._names) if value.columns & self._names.keys() else value
            case tuple():
                return _same_if_equal(value, tuple(map(self._value, value)))
            case dict():
                return {self._value(k): self._value(v) for k, v in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            return self._changed(value)
        return value

    def _scan(self, scan: Scan) -> Scan:
        first = next(iter(scan.columns.names), "")
        renamed = f"{scan.alias}.{first}" in self._names
        return replace(scan, alias=scan.source) if renamed else scan

    def _changed(self, value: Any) -> Any:
        """A dataclass with other names in it; itself if there are none."""
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        new = {name: self._value(part) for name, part in old.items()}
        changed = {name: part for name, part in new.items() if part is not old[name]}
        return replace(value, **changed) if changed else value


def _same_if_equal(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    return old if all(a is b for a, b in zip(old, new, strict=True)) else new
