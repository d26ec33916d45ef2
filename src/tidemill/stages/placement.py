"""Where a plan needs exchanges.

A stateful operator needs the rows that it compares in one partition. An exchange is placed only
where the rows are not together already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatchmethod

from tidemill.algebra.plan import Plan
from tidemill.optimize.statistics import Statistics
from tidemill.physical.facts import Partitioning
from tidemill.physical.lowering.items import only
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.lookup import LookupExec, LookupKind
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.ranking import RankExec
from tidemill.physical.operators.row_number import RowNumberExec
from tidemill.physical.operators.snapshot import SnapshotExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.star import AssignPartitionExec, StarJoinExec
from tidemill.physical.operators.topk import TopKExec
from tidemill.physical.operators.union import UnionExec
from tidemill.physical.operators.unnest import UnnestExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.stages.colocation import (
    Columns,
    Placed,
    Together,
    agreed,
    agreed_positions,
    everywhere,
    exchanged,
    is_hashed_within,
    over,
    renamed,
)
from tidemill.stages.exchange import ExchangeExec, Mode
from tidemill.stages.phases import (
    Selective,
    first_phase,
    has_phases,
    is_selective,
    merged,
    second_phase,
)
from tidemill.stages.sizes import Sizes

MOST_BROADCAST = 10_000_000
"""Bytes that every partition may keep of a relation; a larger one is partitioned by its keys.

Rows that look up a relation that is everywhere stay where they are.
"""


class Placement:
    """Puts an exchange wherever rows must change the partition.

    Every part of a plan is placed once, so that equal parts stay one. What is `known` stays where
    it is: a part that runs already must not move because another query would like it elsewhere.
    Parts that take over what others remember are placed by the same `wishes` as those. For
    `exchanges` and `whole`, see `Staging`. What is known of sources tells which inputs are small.
    """

    def __init__(
        self,
        partitions: int,
        known: Mapping[Plan, Placed] | None = None,
        wishes: Mapping[Plan, Columns | None] | None = None,
        exchanges: bool = False,
        whole: bool = False,
        statistics: Statistics | None = None,
    ) -> None:
        self._partitions = partitions
        self._alone = partitions == 1 and not exchanges
        self._whole = whole
        self._done: dict[Plan, Placed] = dict(known or {})
        self._wishes: dict[Plan, Columns | None] = dict(wishes or {})
        self._fixed = frozenset(self._wishes)
        self._sizes = Sizes(statistics)
        self._bounds = Sizes()  # what plans tell: few rows at a time are not the same as one

    @property
    def placed(self) -> Mapping[Plan, Placed]:
        """All parts that have their place."""
        return self._done

    def wish_of(self, node: Plan) -> Columns | None:
        """By which columns an operator above wanted the rows of a part together."""
        return self._wishes.get(node)

    def place(self, node: Exec) -> Placed:
        if node not in self._done:
            self._done[node] = self._in_one(node) if self._alone else self._place(node)
        return self._done[node]

    def _in_one(self, node: Exec) -> Placed:
        """Where there is one partition, all rows are together already."""
        children = [self.place(child).plan for child in node.children]
        if isinstance(node, SnapshotExec):
            # Not to move rows: above it, time stops at the last instant that has brought any.
            children = [ExchangeExec(children[0], Mode.NOW)]
        same = all(new is old for new, old in zip(children, node.children, strict=True))
        return Placed(node if same else node.with_children(children))

    @singledispatchmethod
    def _place(self, node: Exec) -> Placed:
        """As the operator says which rows it compares."""
        match node.together:
            case Partitioning.OWN:
                raise TypeError(f"{type(node).__name__} has a place that nobody knows")
            case Partitioning.ANY:
                (only,) = node.children
                child = self.place(only)
                return over(node, [child], child.together)
        return self._by(node, node.together)

    @_place.register
    def _source(self, node: SourceExec) -> Placed:
        return Placed(node)

    @_place.register
    def _project(self, node: ProjectExec) -> Placed:
        child = self.place(node.child)
        return Placed(replace(node, child=child.plan), renamed(node, child.together))

    @_place.register
    def _unnest(self, node: UnnestExec) -> Placed:
        child = self.place(node.child)
        kept = {way for way in child.together if set(way.columns) <= set(node.kept)}
        return Placed(replace(node, child=child.plan), frozenset(kept))

    @_place.register
    def _row_number(self, node: RowNumberExec) -> Placed:
        child = self.place(node.child)
        # A number occurs once, so its rows are together; but not where its hash would send others.
        kept = child.together | {Together((node.name,), hashed=False)}
        return Placed(replace(node, child=child.plan), kept)

    @_place.register(UnionExec)
    @_place.register(MigratingExec)
    def _sides(self, node: Exec) -> Placed:
        # Halves of rows in different partitions stay halves. That is cheaper than to move all rows
        # for the sake of those few.
        sides = [self.place(child) for child in node.children]
        return over(node, sides, sides[0].together & sides[1].together)

    @_place.register
    def _versions(self, node: VersionsExec) -> Placed:
        # What is inserted and its end have the same values in all columns. So any way to bring
        # rows together will do: what is above may ask for another one.
        (by_version,) = exchanged([self.place(node.child)], (node.version,))
        return over(node, [by_version])

    @_place.register
    def _top(self, node: TopKExec) -> Placed:
        return self._selective(node)

    @_place.register
    def _aggregate(self, node: AggregateExec) -> Placed:
        return self._selective(node) if is_selective(node) else self._by(node, node.keys)

    @_place.register
    def _merge(self, node: MergeExec) -> Placed:
        child = self.place(node.child)
        if is_selective(node.child) and not self._whole:
            return child  # which merges what it finds in any case
        return over(node, [child], child.together)

    @_place.register
    def _snapshot(self, node: SnapshotExec) -> Placed:
        # Between stages, all partitions go by the same watermark: so the snapshots that they make
        # are of the same instant.
        child = self.place(node.child)
        return Placed(replace(node, child=ExchangeExec(child.plan, Mode.NOW)))

    def _by(self, node: Exec, keys: Columns) -> Placed:
        """An operator that compares rows of all its inputs by the keys."""
        inputs = [self.place(child) for child in node.children]
        ways = frozenset.intersection(*(child.together for child in inputs))
        # Rows with equal keys are equal in some of the keys, too: these are enough.
        fitting = [way for way in ways if set(way.columns) <= set(keys)]
        if fitting:
            return over(node, inputs, ways)
        wish = self._wishes.get(node)
        by = wish if wish and set(wish) <= set(keys) else agreed(inputs, keys)
        return over(node, exchanged(inputs, by))

    def _wish(self, node: Plan, by: Columns) -> None:
        """Tell what makes up groups below that a join above wants them together by fewer columns.

        Then an early aggregate and the join above it are in one stage.
        """
        if isinstance(node, ProjectExec):
            names = {new: scalar.node.name for new, scalar in node.items if scalar.is_column}
            if all(name in names for name in by):
                self._wish(node.child, tuple(names[name] for name in by))
        elif isinstance(node, AggregateExec | DistinctExec):
            if node not in self._done and node not in self._fixed:
                self._wishes[node] = by
        elif isinstance(node, FilterExec | MergeExec):
            self._wish(node.child, by)

    @_place.register
    def _join(self, node: JoinExec) -> Placed:
        if sum(self._bounds.of(child) > 1 for child in node.inputs) <= 1:
            # A single row comes to the others at less cost than they to it.
            return self._all_pairs(node, [self.place(child) for child in node.inputs])
        for child, columns in zip(node.inputs, node.keys, strict=True):
            self._wish(child, tuple(dict.fromkeys(columns)))
        inputs = [self.place(child) for child in node.inputs]
        if not node.is_keyed:
            return self._all_pairs(node, inputs)
        by = agreed_positions(inputs, node.keys)
        placed = [
            exchanged([child], tuple(columns[at] for at in by))[0] if columns else everywhere(child)
            for child, columns in zip(inputs, node.keys, strict=True)
        ]
        # A result is where the rows are that it was made of: the ways of all inputs hold for it.
        return over(node, placed, frozenset().union(*(child.together for child in placed)))

    def _all_pairs(self, node: JoinExec, inputs: list[Placed]) -> Placed:
        """Rows of every input must meet those of all others: all but the largest go everywhere."""
        if all(Together(()) in child.together for child in inputs):
            return over(node, inputs)
        sizes = [self._sizes.of(child) for child in node.inputs]
        # What wants numbered rows back would have to bring all pairs together again.
        numbered = [any(not way.hashed for way in child.together) for child in inputs]
        # Between equals the first input, so that a plan is always placed in the same way.
        stays = max(range(len(inputs)), key=lambda at: (numbered[at], sizes[at], -at))
        placed = [child if at == stays else everywhere(child) for at, child in enumerate(inputs)]
        return over(node, placed, inputs[stays].together)

    @_place.register
    def _lookup(self, node: LookupExec) -> Placed:
        """A small relation goes to the rows; for a large one, both meet where their key belongs."""
        mine, theirs = node.keys
        if large := bool(mine) and self._sizes.bytes(node.relation) > MOST_BROADCAST:
            self._wish(node.left, tuple(dict.fromkeys(mine)))
        left, relation = self.place(node.left), self.place(node.relation)
        if Together(()) in left.together:
            return over(node, [left, *exchanged([relation], ())])
        if not large and not is_hashed_within(left, mine):
            return over(node, [left, everywhere(relation)])
        by = agreed_positions([left], [mine])
        (left,) = exchanged([left], tuple(mine[at] for at in by))
        (relation,) = exchanged([relation], tuple(theirs[at] for at in by))
        # Where a row finds nothing, columns of the relation are NULL, wherever the row is.
        together = relation.together if node.kind is LookupKind.INNER else frozenset()
        return over(node, [left, relation], left.together | together)

    @_place.register
    def _star(self, node: StarJoinExec) -> Placed:
        """What the relation connects must be together, and memory is divided with it.

        A relation that changes may connect tomorrow what is apart today.
        """
        inputs = [self.place(child) for child in node.children]
        if node.version is not None or self._partitions == 1 or self._whole:
            return over(node, exchanged(inputs, ()))
        *streams, relation = inputs
        # Each task finds from all of them which keys are connected.
        facts = everywhere(relation)
        moved = [
            self._to_its_part(node, number, stream, facts) for number, stream in enumerate(streams)
        ]
        return over(replace(node, partitions=self._partitions), [*moved, facts], frozenset())

    def _to_its_part(
        self, node: StarJoinExec, number: int, stream: Placed, facts: Placed
    ) -> Placed:
        """Rows of a stream in the partition of all that they can meet."""
        assigned = AssignPartitionExec(
            stream.plan, facts.plan, number, node.stream_keys, node.relation_keys, self._partitions
        )
        moved = ExchangeExec(assigned, Mode.GIVEN, (assigned.name,))
        return Placed(only(moved, stream.plan.schema.names))

    @_place.register
    def _rank(self, node: RankExec) -> Placed:
        """Who is not among the first in its partition is not among the first of all."""
        # A window that counts rows counts those of all partitions.
        if node.ranked.rows is not None or self._whole:
            return over(node, exchanged([self.place(node.child)], ()))
        local = self._by(node, node.ranked.keys)
        if Together(()) in local.together:
            return local
        assert isinstance(local.plan, RankExec)
        # Eager: what is above could not go on while results of the partitions are still open.
        (all_rows,) = exchanged([Placed(replace(local.plan, eager=True))], ())
        merge = TopKExec(all_rows.plan, (node.ranked.order,), node.ranked.limit, eager=node.eager)
        return Placed(merge, all_rows.together)

    def _selective(self, node: Selective) -> Placed:
        child = self.place(node.child)
        if self._whole:
            return over(node, exchanged([child], ()))
        if Together(()) not in child.together and has_phases(node, child.plan):
            child = Placed(first_phase(node, child.plan))
            node = second_phase(node)
        (all_rows,) = exchanged([child], ())
        return Placed(merged(replace(node, child=all_rows.plan)), all_rows.together)
