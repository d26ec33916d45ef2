"""Where rows are, by their values: what decides about the partition of what operators remember."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tidemill.fragments.exchange import Mode
from tidemill.fragments.stages import EdgeExec
from tidemill.fragments.staging import Staging
from tidemill.fragments.together import Columns
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.counting import CountingExec
from tidemill.physical.distinct import DistinctExec
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
        self._known: dict[Exec, Home] = {}

    def all_inputs(self, node: Exec) -> list[Home]:
        """Where the rows of each input are."""
        return [self.of(child) for child in node.children]

    def of_inputs(self, node: Exec) -> list[Home]:
        """Where the rows of each input are, as far as what the operator remembers tells."""
        kept, homes = _kept(node), self.all_inputs(node)
        if kept is None:
            return homes
        # Sides are compared: what tells their partition is the same for both.
        shared = frozenset.intersection(*(home.within(kept).ways for home in homes))
        return [replace(home, ways=shared) for home in homes]

    def of(self, node: Exec) -> Home:
        """Where the rows are that a part gives."""
        if node not in self._known:
            self._known[node] = self._of(node)
        return self._known[node]

    def _of(self, node: Exec) -> Home:
        if isinstance(node, EdgeExec):
            return self._of_edge(node)
        inputs = [self.of(child) for child in node.children]
        match node:
            case ProjectExec():
                return _renamed(node, inputs[0])
            case UnionExec() | HandOverExec():
                shared = frozenset.intersection(*(home.ways for home in inputs))
                return Home(shared, all(home.single for home in inputs))
            case JoinExec():
                return _met(inputs)
            case LookupExec():
                return _met(inputs if node.kind is LookupKind.INNER else inputs[:1])
            case AggregateExec():
                return inputs[0].within(node.keys)
        return inputs[0].within(node.schema.names)

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


def _kept(node: Exec) -> Columns | None:
    """The columns that an operator remembers of its inputs, if not all."""
    match node:
        case AggregateExec() | DistinctExec() | CountingExec():
            return node.keys
        case CountWindowExec():
            return node.partition_by
    return None


def _met(inputs: list[Home]) -> Home:
    """Rows of several inputs that have met."""
    apart = [home for home in inputs if not home.everywhere]
    if not apart:
        return Home(everywhere=True)
    ways = frozenset[Columns]().union(*(home.ways for home in apart))
    return Home(ways, any(home.single for home in apart))


def _renamed(node: ProjectExec, home: Home) -> Home:
    names = {scalar.node.name: new for new, scalar in node.items if scalar.is_column}
    known = (way for way in home.ways if all(column in names for column in way))
    return replace(home, ways=frozenset(tuple(names[c] for c in way) for way in known))
