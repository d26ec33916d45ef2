"""Where rows are, by their values: what decides about the partition of what operators remember."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import singledispatch

from tidemill.algebra.plan import Memo
from tidemill.fragments.exchange import Mode
from tidemill.fragments.stages import EdgeExec
from tidemill.fragments.staging import Staging
from tidemill.fragments.together import Columns
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.facts import Partitioning
from tidemill.physical.hand_over import HandOverExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec, LookupKind
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.union import UnionExec


@dataclass(frozen=True)
class Home:
    """Rows are in the partition of the hash of some columns, each of these `ways`; or `single`,
    in one partition, or `everywhere`. Else they are where they came to be."""

    ways: frozenset[Columns] = frozenset()
    single: bool = False
    everywhere: bool = False

    def within(self, columns: Iterable[str]) -> Home:
        """As far as these columns tell it."""
        known = set(columns)
        return replace(self, ways=frozenset(way for way in self.ways if known.issuperset(way)))

    @property
    def way(self) -> Columns | None:
        """Columns that tell the partition, if any do."""
        return min(self.ways, default=None)


class Homes:
    """Where the rows of the parts of stages are."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging
        self.of: Memo[Exec, Home] = Memo(self._of)
        """Where the rows are that a part gives."""

    def all_inputs(self, node: Exec) -> list[Home]:
        """Where the rows of each input are."""
        return [self.of(child) for child in node.children]

    def of_inputs(self, node: Exec) -> list[Home]:
        """Where the rows of each input are, as far as what the operator remembers tells."""
        kept, homes = node.together, self.all_inputs(node)
        if isinstance(kept, Partitioning):
            return homes
        # Sides are compared: what tells their partition is the same for both.
        shared = frozenset.intersection(*(home.within(kept).ways for home in homes))
        return [replace(home, ways=shared) for home in homes]

    def _of(self, node: Exec) -> Home:
        if isinstance(node, EdgeExec):
            return self._of_edge(node)
        return home_of(node, self.all_inputs(node))

    def _of_edge(self, leaf: EdgeExec) -> Home:
        edge = self._staging.staged.edge(leaf.tag)
        match edge.mode:
            case Mode.HASH:
                return Home(frozenset({edge.keys}))
            case Mode.SINGLE:
                return Home(single=True)
            case Mode.BROADCAST:
                return Home(everywhere=True)
            case Mode.KEEP | Mode.NOW if edge.made_at:
                return self.of(self._staging.locals[edge.producer])
            case Mode.NOW:
                return Home(frozenset({edge.schema.names}))
        return Home()


@singledispatch
def home_of(node: Exec, inputs: list[Home]) -> Home:
    """Where the rows of an operator are, by those of its inputs."""
    return inputs[0].within(node.schema.names)


@home_of.register(UnionExec)
@home_of.register(HandOverExec)
def _passed(node: Exec, inputs: list[Home]) -> Home:
    shared = frozenset.intersection(*(home.ways for home in inputs))
    return Home(shared, all(home.single for home in inputs))


@home_of.register
def _joined(node: JoinExec, inputs: list[Home]) -> Home:
    return _met(inputs)


@home_of.register
def _looked_up(node: LookupExec, inputs: list[Home]) -> Home:
    return _met(inputs if node.kind is LookupKind.INNER else inputs[:1])


@home_of.register
def _grouped(node: AggregateExec, inputs: list[Home]) -> Home:
    return inputs[0].within(node.keys)


@home_of.register
def _renamed(node: ProjectExec, inputs: list[Home]) -> Home:
    names = {scalar.node.name: new for new, scalar in node.items if scalar.is_column}
    known = (way for way in inputs[0].ways if all(column in names for column in way))
    return replace(inputs[0], ways=frozenset(tuple(names[c] for c in way) for way in known))


def _met(inputs: list[Home]) -> Home:
    """Rows of several inputs that have met."""
    apart = [home for home in inputs if not home.everywhere]
    if not apart:
        return Home(everywhere=True)
    ways = frozenset[Columns]().union(*(home.ways for home in apart))
    return Home(ways, any(home.single for home in apart))
