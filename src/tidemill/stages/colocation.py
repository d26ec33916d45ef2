"""Rows that belong together, and exchanges that bring them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tidemill.physical.operator import Exec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.union import UnionExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.stages.exchange import ExchangeExec, Mode

Columns = tuple[str, ...]


@dataclass(frozen=True)
class Together:
    """Rows with equal values in the columns are in one partition; without columns, all are.

    `hashed` tells that the partition follows from the values alone, so that two streams can
    meet. (Numbers of rows are together where they were given, wherever that was.)
    """

    columns: Columns
    hashed: bool = True


@dataclass(frozen=True)
class Placed:
    """A plan with its exchanges, and in which ways its rows are together."""

    plan: Exec
    together: frozenset[Together] = frozenset()


def over(
    node: Exec, inputs: Sequence[Placed], together: frozenset[Together] | None = None
) -> Placed:
    """The node over placed inputs; by default together as the first of them."""
    plan = node.with_children([child.plan for child in inputs])
    return Placed(plan, inputs[0].together if together is None else together)


def everywhere(child: Placed) -> Placed:
    """All rows in every partition."""
    return Placed(_exchange(child.plan, Mode.BROADCAST))


def is_hashed_within(child: Placed, keys: Columns) -> bool:
    """Whether rows with equal keys are in a partition that other rows can find."""
    return any(
        way.hashed and way.columns and set(way.columns) <= set(keys) for way in child.together
    )


def agreed_positions(inputs: Sequence[Placed], keys: Sequence[Columns]) -> tuple[int, ...]:
    """Key columns to be together by, as positions: those by which most inputs are already."""
    votes = Counter(
        tuple(columns.index(name) for name in way.columns)
        for child, columns in zip(inputs, keys, strict=True)
        for way in child.together
        if way.hashed and way.columns and set(way.columns) <= set(columns)
    )
    if votes:
        return min(votes, key=lambda by: (-votes[by], len(by), by))
    # A column that is compared twice says where its row goes only once.
    columns = [each for each in keys if each]
    return tuple(
        at for at in range(len(columns[0])) if all(each[at] not in each[:at] for each in columns)
    )


def agreed(inputs: Iterable[Placed], keys: Columns) -> Columns:
    """Columns to be together by: those by which an input is already, or all keys."""
    known = [
        way.columns
        for child in inputs
        for way in child.together
        if way.hashed and way.columns and set(way.columns) <= set(keys)
    ]
    return min(known, key=lambda columns: (len(columns), columns)) if known else keys


def exchanged(inputs: Iterable[Placed], by: Columns) -> list[Placed]:
    """The inputs with their rows together by exactly these columns."""
    wanted, mode = Together(by), Mode.HASH if by else Mode.SINGLE
    return [
        child
        if wanted in child.together
        else Placed(_exchange(child.plan, mode, by), frozenset({wanted}))
        for child in inputs
    ]


def _exchange(plan: Exec, mode: Mode, by: Columns = ()) -> Exec:
    """Move rows; the sides of a union each for themselves, so that it needs no stage before.

    Versions move before their ends are known: there they must move anyway.
    """
    below = _below_renaming(plan, by)
    if isinstance(plan, UnionExec | MigratingExec):
        sides = [_exchange(side, mode, by) for side in plan.children]
        return plan.with_children(sides)
    if isinstance(plan, VersionsExec) and isinstance(plan.child, ExchangeExec):
        return replace(plan, child=replace(plan.child, mode=mode, keys=by))
    if isinstance(plan, ProjectExec) and below is not None:
        return replace(plan, child=_exchange(plan.child, mode, below))
    return ExchangeExec(plan, mode, by)


def _below_renaming(plan: Exec, by: Columns) -> Columns | None:
    """The names of columns below projections that lead to a union or to versions, or None."""
    if isinstance(plan, UnionExec | MigratingExec | VersionsExec):
        return by
    if not isinstance(plan, ProjectExec):
        return None
    old = {new: scalar.node.name for new, scalar in plan.items if scalar.is_column}
    if not all(column in old for column in by):
        return None
    names = tuple(old[column] for column in by)
    return names if _below_renaming(plan.child, names) is not None else None


def renamed(node: ProjectExec, together: frozenset[Together]) -> frozenset[Together]:
    """The ways in which rows are together, under the names of the projection."""
    names = {scalar.node.name: new for new, scalar in node.items if scalar.is_column}
    return frozenset(
        replace(way, columns=tuple(names[column] for column in way.columns))
        for way in together
        if all(column in names for column in way.columns)
    )
