"""Where rows are, by their values: what decides about the partition of what operators remember."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import singledispatch

from tidemill.algebra.plan import Memo
from tidemill.physical.facts import Partitioning
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.lookup import LookupExec, LookupKind
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.union import UnionExec
from tidemill.stages.colocation import Columns
from tidemill.stages.exchange import Mode
from tidemill.stages.stages import ReceiveExec
from tidemill.stages.staging import Staging


@dataclass(frozen=True)
class Distribution:
    """Rows are in the partition of the hash of some columns, each of these `ways`; or `single`,
    in one partition, or `everywhere`. Else they are where they came to be."""

    ways: frozenset[Columns] = frozenset()
    single: bool = False
    everywhere: bool = False

    def within(self, columns: Iterable[str]) -> Distribution:
        """As far as these columns tell it."""
        known = set(columns)
        return replace(self, ways=frozenset(way for way in self.ways if known.issuperset(way)))

    @property
    def way(self) -> Columns | None:
        """Columns that tell the partition, if any do."""
        return min(self.ways, default=None)


class Distributions:
    """Where the rows of the parts of stages are."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging
        self.of: Memo[Exec, Distribution] = Memo(self._of)
        """Where the rows are that a part gives."""

    def all_inputs(self, node: Exec) -> list[Distribution]:
        """Where the rows of each input are."""
        return [self.of(child) for child in node.children]

    def of_inputs(self, node: Exec) -> list[Distribution]:
        """Where the rows of each input are, as far as what the operator remembers tells."""
        kept, distributions = node.together, self.all_inputs(node)
        if isinstance(kept, Partitioning):
            return distributions
        # Sides are compared: what tells their partition is the same for both.
        shared = frozenset.intersection(
            *(distribution.within(kept).ways for distribution in distributions)
        )
        return [replace(distribution, ways=shared) for distribution in distributions]

    def _of(self, node: Exec) -> Distribution:
        if isinstance(node, ReceiveExec):
            return self._of_exchange(node)
        return distribution_of(node, self.all_inputs(node))

    def _of_exchange(self, leaf: ReceiveExec) -> Distribution:
        exchange = self._staging.staged.exchange(leaf.tag)
        match exchange.mode:
            case Mode.HASH:
                return Distribution(frozenset({exchange.keys}))
            case Mode.SINGLE:
                return Distribution(single=True)
            case Mode.BROADCAST:
                return Distribution(everywhere=True)
            case Mode.KEEP | Mode.NOW if exchange.made_at:
                return self.of(self._staging.locals[exchange.producer])
            case Mode.NOW:
                return Distribution(frozenset({exchange.schema.names}))
        return Distribution()


@singledispatch
def distribution_of(node: Exec, inputs: list[Distribution]) -> Distribution:
    """Where the rows of an operator are, by those of its inputs."""
    return inputs[0].within(node.schema.names)


@distribution_of.register(UnionExec)
@distribution_of.register(MigratingExec)
def _passed(node: Exec, inputs: list[Distribution]) -> Distribution:
    shared = frozenset.intersection(*(distribution.ways for distribution in inputs))
    return Distribution(shared, all(distribution.single for distribution in inputs))


@distribution_of.register
def _joined(node: JoinExec, inputs: list[Distribution]) -> Distribution:
    return _met(inputs)


@distribution_of.register
def _looked_up(node: LookupExec, inputs: list[Distribution]) -> Distribution:
    return _met(inputs if node.kind is LookupKind.INNER else inputs[:1])


@distribution_of.register
def _grouped(node: AggregateExec, inputs: list[Distribution]) -> Distribution:
    return inputs[0].within(node.keys)


@distribution_of.register
def _renamed(node: ProjectExec, inputs: list[Distribution]) -> Distribution:
    names = {scalar.node.name: new for new, scalar in node.items if scalar.is_column}
    known = (way for way in inputs[0].ways if all(column in names for column in way))
    return replace(inputs[0], ways=frozenset(tuple(names[c] for c in way) for way in known))


def _met(inputs: list[Distribution]) -> Distribution:
    """Rows of several inputs that have met."""
    apart = [distribution for distribution in inputs if not distribution.everywhere]
    if not apart:
        return Distribution(everywhere=True)
    ways = frozenset[Columns]().union(*(distribution.ways for distribution in apart))
    return Distribution(ways, any(distribution.single for distribution in apart))
