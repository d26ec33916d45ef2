"""Where a plan needs exchanges.

A stateful operator needs the rows that it compares in one partition. An exchange is placed only
where the rows are not together already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tidemill.algebra.plan import Plan
from tidemill.fragments.exchange import ExchangeExec, Mode
from tidemill.fragments.phases import (
    Selective,
    first_phase,
    has_phases,
    is_selective,
    merged,
    second_phase,
)
from tidemill.fragments.sizes import Sizes
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.counting import CountingExec
from tidemill.physical.distinct import DistinctExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.istream import DstreamExec, IstreamExec
from tidemill.physical.join import JoinExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.snapshot import SnapshotExec
from tidemill.physical.source import SourceExec
from tidemill.physical.topk import TopKExec
from tidemill.physical.union import UnionExec

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


def place_exchanges(plans: Iterable[Exec]) -> list[Exec]:
    """The plans with an exchange wherever rows must change the partition."""
    placement = _Placement()
    return [placement.place(plan).plan for plan in plans]


class _Placement:
    """Places every part of a plan once, so that equal parts stay one."""

    def __init__(self) -> None:
        self._done: dict[Plan, Placed] = {}
        self._wishes: dict[Plan, Columns] = {}
        self._sizes = Sizes()

    def place(self, node: Plan) -> Placed:
        if node not in self._done:
            self._done[node] = self._place(node)
        return self._done[node]

    def _place(self, node: Plan) -> Placed:
        match node:
            case SourceExec():
                return Placed(node)
            case ProjectExec():
                child = self.place(node.child)
                return Placed(replace(node, child=child.plan), _renamed(node, child.together))
            case RowNumberExec():
                child = self.place(node.child)
                kept = child.together | {Together((node.name,), hashed=False)}
                return Placed(replace(node, child=child.plan), kept)
            case UnionExec():
                sides = [self.place(child) for child in node.children]
                return _over(node, sides, sides[0].together & sides[1].together)
            case JoinExec():
                return self._join(node)
            case TopKExec() | AggregateExec() if is_selective(node):
                return self._selective(node)
            case DistinctExec() | CountingExec() | AggregateExec():
                return self._by(node, node.keys)
            case CountWindowExec():
                return self._by(node, node.partition_by)
            case IstreamExec() | DstreamExec() | CoalesceExec():
                return self._by(node, node.schema.names)
            case SnapshotExec():
                # Between stages, all partitions go by the same watermark: so the snapshots that
                # they make are of the same instant.
                child = self.place(node.child)
                return Placed(replace(node, child=ExchangeExec(child.plan, Mode.NOW)))
            case Exec():
                (only,) = node.children
                child = self.place(only)
                return _over(node, [child], child.together)
        raise TypeError(type(node).__name__)

    def _by(self, node: Exec, keys: Columns) -> Placed:
        """An operator that compares rows of all its inputs by the keys."""
        inputs = [self.place(child) for child in node.children]
        ways = frozenset.intersection(*(child.together for child in inputs))
        fitting = [way for way in ways if set(way.columns) <= set(keys)]
        if fitting:
            return _over(node, inputs, ways)
        wish = self._wishes.get(node, ())
        by = wish if wish and set(wish) <= set(keys) else _agreed(inputs, keys)
        return _over(node, _exchanged(inputs, by))

    def _wish(self, node: Plan, by: Columns) -> None:
        """Tell what makes up groups below that a join above wants them together by fewer columns.

        Then an early aggregate and the join above it are in one stage.
        """
        if isinstance(node, ProjectExec):
            names = {new: scalar.node.name for new, scalar in node.items if scalar.is_column}
            if all(name in names for name in by):
                self._wish(node.child, tuple(names[name] for name in by))
        elif isinstance(node, AggregateExec | DistinctExec):
            self._wishes[node] = by
        elif isinstance(node, FilterExec | MergeExec):
            self._wish(node.child, by)

    def _join(self, node: JoinExec) -> Placed:
        for child, columns in zip(node.inputs, node.keys, strict=True):
            self._wish(child, tuple(dict.fromkeys(columns)))
        inputs = [self.place(child) for child in node.inputs]
        if not node.is_keyed:
            return self._all_pairs(node, inputs)
        by = _agreed_positions(inputs, node.keys)
        placed = [
            _exchanged([child], tuple(columns[at] for at in by))[0]
            if columns
            else _everywhere(child)
            for child, columns in zip(inputs, node.keys, strict=True)
        ]
        return _over(node, placed, frozenset().union(*(child.together for child in placed)))

    def _all_pairs(self, node: JoinExec, inputs: list[Placed]) -> Placed:
        """Rows of every input must meet those of all others: all but the largest go everywhere."""
        if all(Together(()) in child.together for child in inputs):
            return _over(node, inputs)
        sizes = [self._sizes.of(child) for child in node.inputs]
        # What wants numbered rows back would have to bring all pairs together again.
        numbered = [any(not way.hashed for way in child.together) for child in inputs]
        stays = max(range(len(inputs)), key=lambda at: (numbered[at], sizes[at], -at))
        placed = [child if at == stays else _everywhere(child) for at, child in enumerate(inputs)]
        return _over(node, placed, inputs[stays].together)

    def _selective(self, node: Selective) -> Placed:
        child = self.place(node.child)
        if Together(()) not in child.together and has_phases(node, child.plan):
            child = Placed(first_phase(node, child.plan))
            node = second_phase(node)
        (all_rows,) = _exchanged([child], ())
        return Placed(merged(replace(node, child=all_rows.plan)), all_rows.together)


def _over(
    node: Exec, inputs: Sequence[Placed], together: frozenset[Together] | None = None
) -> Placed:
    """The node over placed inputs; by default together as the first of them."""
    plan = node.with_children([child.plan for child in inputs])
    return Placed(plan, inputs[0].together if together is None else together)


def _everywhere(child: Placed) -> Placed:
    return Placed(ExchangeExec(child.plan, Mode.BROADCAST))


def _agreed_positions(inputs: Sequence[Placed], keys: Sequence[Columns]) -> tuple[int, ...]:
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


def _agreed(inputs: Iterable[Placed], keys: Columns) -> Columns:
    """Columns to be together by: those by which an input is already, or all keys."""
    known = [
        way.columns
        for child in inputs
        for way in child.together
        if way.hashed and way.columns and set(way.columns) <= set(keys)
    ]
    return min(known, key=lambda columns: (len(columns), columns)) if known else keys


def _exchanged(inputs: Iterable[Placed], by: Columns) -> list[Placed]:
    """The inputs with their rows together by exactly these columns."""
    wanted = Together(by)
    return [
        child
        if wanted in child.together
        else Placed(_exchange(child.plan, by), frozenset({wanted}))
        for child in inputs
    ]


def _exchange(plan: Exec, by: Columns) -> Exec:
    """Move rows; the sides of a union each for themselves, so that it needs no stage before."""
    below = _below_renaming(plan, by)
    if isinstance(plan, UnionExec):
        sides = [_exchange(side, by) for side in plan.children if isinstance(side, Exec)]
        return plan.with_children(sides)
    if isinstance(plan, ProjectExec) and below is not None:
        child = plan.child
        assert isinstance(child, Exec)
        return replace(plan, child=_exchange(child, below))
    return ExchangeExec(plan, Mode.HASH if by else Mode.SINGLE, by)


def _below_renaming(plan: Exec, by: Columns) -> Columns | None:
    """The names of columns below projections that lead to a union; None if there is none."""
    if isinstance(plan, UnionExec):
        return by
    if not isinstance(plan, ProjectExec) or not isinstance(plan.child, Exec):
        return None
    old = {new: scalar.node.name for new, scalar in plan.items if scalar.is_column}
    if not all(column in old for column in by):
        return None
    names = tuple(old[column] for column in by)
    return names if _below_renaming(plan.child, names) is not None else None


def _renamed(node: ProjectExec, together: frozenset[Together]) -> frozenset[Together]:
    """The ways in which rows are together, under the names of the projection."""
    names = {scalar.node.name: new for new, scalar in node.items if scalar.is_column}
    return frozenset(
        replace(way, columns=tuple(names[column] for column in way.columns))
        for way in together
        if all(column in names for column in way.columns)
    )
