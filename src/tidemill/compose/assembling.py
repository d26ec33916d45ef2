"""From composed nodes to pieces of plans: each node by itself, errors where they arise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidemill.algebra import CountWindow, Istream, Plan, SessionWindow, TimeWindow
from tidemill.catalog import Catalog
from tidemill.compose.advice import advice_on
from tidemill.compose.bench import Bench, NamingContext, PlanPiece, is_missing, missing
from tidemill.compose.model import Composed, Node, PlanProblem, Wrong, wrong
from tidemill.compose.operators import Card
from tidemill.errors import TidemillError, nearest
from tidemill.timeline import TimeDomain

_LARGEST = 3000
_TIMES = {TimeDomain.TICKS: "whole numbers", TimeDomain.MICROSECONDS: "timestamps"}


@dataclass
class Assembled:
    """What became of the nodes: pieces of those that are right, and problems of the others."""

    pieces: dict[str, PlanPiece] = field(default_factory=dict)
    errors: list[PlanProblem] = field(default_factory=list)
    warnings: list[PlanProblem] = field(default_factory=list)
    depends_on: set[str] = field(default_factory=set)
    nodes_of: dict[int, str] = field(default_factory=dict)

    def has_error(self, node: str) -> bool:
        """Whether something is wrong with a node itself."""
        return any(error.node == node for error in self.errors)


def assemble(composed: Composed, operators: Mapping[str, Card], catalog: Catalog) -> Assembled:
    """Build every node whose inputs are right, inputs first."""
    return _Assembly(composed, operators, catalog).done()


class _Assembly:
    def __init__(self, composed: Composed, operators: Mapping[str, Card], catalog: Catalog) -> None:
        self._composed = composed
        self._operators = operators
        self._catalog = catalog
        self._nodes = {node.id: node for node in composed.nodes}
        self._found = Assembled()
        self._used: Counter[str] = Counter()

    def done(self) -> Assembled:
        times = Counter(node.id for node in self._composed.nodes)
        for id in (id for id, number in times.items() if number > 1):
            self._error(id, wrong(f"two nodes have the id `{id}`", "give one another id"))
        for id in self._in_circles():
            help = "disconnect one of its nodes"
            self._error(id, wrong("the node is part of a circle", help))
        for node in self._nodes.values():
            self._check_alone(node)
        for node in self._inputs_first():
            try:
                self._found.pieces[node.id] = self._piece(node)
            except Wrong as error:
                self._error(node.id, error)
            except TidemillError as error:
                self._error(node.id, Wrong(error))
        return self._found

    def _error(self, id: str, error: Wrong) -> None:
        self._found.errors.append(error.problem(id))

    def _check_alone(self, node: Node) -> None:
        """What can be said about a node without its inputs: its kind, and what is missing."""
        try:
            operator = self._operator(node)
            self._check_inputs(node, operator)
        except Wrong as error:
            self._error(node.id, error)
        for setting in self._operators[node.kind].settings if node.kind in self._operators else ():
            if setting.required and is_missing(node.settings.get(setting.name)):
                self._error(node.id, missing(setting))

    def _inputs_first(self) -> Iterator[Node]:
        """The nodes whose inputs are all right, in the order in which they are found."""
        for node in self._ordered():
            if self._found.has_error(node.id):
                continue
            known = [id for id in node.inputs if id in self._nodes]
            if all(id in self._found.pieces for id in known):
                yield node

    def _ordered(self) -> list[Node]:
        """All nodes, inputs first, from the output: as the language meets them in FROM."""
        done: dict[str, Node] = {}
        starts = [self._composed.output, *self._nodes]
        waiting = [(id, False) for id in reversed(starts) if id is not None]
        open_nodes: set[str] = set()
        while waiting:
            id, is_ready = waiting.pop()
            if id in done or id not in self._nodes or (id in open_nodes and not is_ready):
                continue
            if is_ready:
                done[id] = self._nodes[id]
            else:
                open_nodes.add(id)
                inputs = reversed(self._nodes[id].inputs)
                waiting += [(id, True), *((other, False) for other in inputs)]
        return list(done.values())

    def _in_circles(self) -> list[str]:
        """The nodes that come back to themselves."""
        left = {
            id: {i for i in node.inputs if i in self._nodes} for id, node in self._nodes.items()
        }
        for _ in range(2):  # what leads to no circle goes, then what no circle leads to
            while ends := {id for id, inputs in left.items() if not inputs}:
                left = {id: ins - ends for id, ins in left.items() if id not in ends}
            turned: dict[str, set[str]] = {id: set() for id in left}
            for id, inputs in left.items():
                for other in inputs:
                    turned[other].add(id)
            left = turned
        return sorted(left)

    def _piece(self, node: Node) -> PlanPiece:
        operator = self._operators[node.kind]
        inputs = tuple(self._found.pieces[id] for id in node.inputs)
        context = NamingContext(
            self._catalog,
            domain=_common_time(inputs),
            _used=self._used,
            taken={name for piece in inputs for name in piece.plan.schema.names},
        )
        plan = _built(Bench(self._catalog, operator, node, inputs, context))
        self._found.depends_on |= context.depends_on
        self._found.nodes_of[id(plan)] = node.id
        for warning in context.warnings:
            self._found.warnings.append(PlanProblem(warning.message, warning.help, node.id))
        windowed = operator.group in ("windows", "streams") or _has_windows(plan, inputs)
        piece = PlanPiece(plan, context.domain, windowed, 1 + sum(each.size for each in inputs))
        if piece.size > _LARGEST:
            help = "a part counts as often as it is read: read it less often"
            raise wrong(f"the plan has more than {_LARGEST} operators up to here", help)
        self._found.warnings += advice_on(node.kind, node.id, inputs, piece)
        return piece

    def _operator(self, node: Node) -> Card:
        if node.kind not in self._operators:
            near = nearest(node.kind, self._operators)
            guess = f"did you mean `{near}`? " if near else ""
            raise wrong(
                f"there is no {self._composed.level} operator `{node.kind}`",
                f"{guess}operators: {', '.join(self._operators)}",
            )
        return self._operators[node.kind]

    def _check_inputs(self, node: Node, operator: Card) -> None:
        for number, id in enumerate(node.inputs):
            if id not in self._nodes:
                raise wrong(f"there is no node `{id}`", "connect another one", input=number)
        given, least, most = len(node.inputs), operator.least, operator.most
        if given < least:
            help = "draw a line from another operator to this one"
            raise wrong(f"{operator.title} needs {_inputs(least)}, it has {given}", help)
        if given > most:
            help = "remove a line" if most else "a scan begins a plan: it has no input"
            raise wrong(f"{operator.title} takes {_inputs(most)}, it has {given}", help)


def _built(bench: Bench) -> Plan:
    try:
        return bench.operator.build(bench)
    except (ValueError, OverflowError) as error:
        # What a node refuses by itself, such as two columns of one name.
        raise wrong(str(error), "change its settings or inputs") from None
    except RecursionError:
        raise wrong("this is nested too deeply", "put less one above the other") from None


def _has_windows(plan: Plan, inputs: tuple[PlanPiece, ...]) -> bool:
    if inputs:
        return any(piece.is_windowed for piece in inputs)
    # A derived stream may have windows inside.
    return any(
        isinstance(node, TimeWindow | CountWindow | SessionWindow | Istream) for node in plan.walk()
    )


def _inputs(number: int) -> str:
    return f"{number or 'no'} input{'s' * (number != 1)}"


def _common_time(inputs: tuple[PlanPiece, ...]) -> TimeDomain | None:
    first: TimeDomain | None = None
    for number, piece in enumerate(inputs):
        if first is not None and piece.domain not in (None, first):
            assert piece.domain is not None
            times = _TIMES[first], _TIMES[piece.domain]
            message = f"the time of its inputs differs: {times[0]}, and {times[1]} here"
            raise wrong(message, "use streams of one kind of time", input=number)
        first = first or piece.domain
    return first
