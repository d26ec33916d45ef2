"""The resource manager: which queries a graph takes in, and at which sizes they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import nodes_of
from tidemill.errors import ResourceError, TidemillError
from tidemill.graph.manager.estimates import GraphEstimates, Part
from tidemill.graph.manager.knobs import Demand, Knob
from tidemill.graph.manager.sizes import parse_bytes, shown_bytes
from tidemill.graph.manager.strategy import STRATEGIES, Settings
from tidemill.graph.manager.transition import History, Transition
from tidemill.optimize.cost.usage import Usage
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.rate_meter import RateMeter

RESERVE = 0.2
"""The share of what there is that is kept free: for bursts, and until new sizes take effect."""

THRESHOLD = 1.25
"""A rate that has moved by more than this factor changes the estimates."""

AIM = 0.95
"""Sizes are chosen to need this share of the bounds: otherwise they would change every tick."""

SPARE = 0.15
"""Sizes grow again if at least this share of what may be used is free."""

BRIM = 0.9
"""To this share of the bound, memory may go while sizes change."""

LOOK_EVERY = 8
"""Ticks between two comparisons with what was measured, and before sizes grow again."""

RECENT_ROWS = 120
"""How many rows the rate of a stream is measured over: chance then moves it by nine percent."""

UNKNOWN_RATE = 1e-12
"""The rate of an unknown stream: its queries are admitted, and measured."""


@dataclass(frozen=True)
class Readings:
    """What is measured of a running graph after a tick."""

    nodes: Mapping[Exec, OperatorProgress]
    rows: Mapping[str, int]
    now: int
    seconds: float
    ticks: int = 0
    histories: Mapping[str, History] = field(default_factory=dict)

    @property
    def memory(self) -> int:
        """Bytes that all operators keep."""
        return sum(progress.state_bytes for progress in self.nodes.values())


class ResourceManager:
    """Keeps what a graph needs within bounds by the sizes of its windows and granules.

    It decides; others carry out. `memory` is in bytes or as text ("2GB"), `cpu` the share of one
    core. What is estimated may use all but the `reserve`.

    >>> manager = ResourceManager(memory="100MB")
    >>> manager.target.memory
    80000000.0
    """

    def __init__(
        self,
        memory: int | str | None = None,
        cpu: float | None = None,
        reserve: float = RESERVE,
        strategy: str = "marginal",
        threshold: float = THRESHOLD,
    ) -> None:
        if strategy not in STRATEGIES:
            help = f"strategies: {', '.join(STRATEGIES)}"
            raise TidemillError(f"there is no strategy `{strategy}`", help=help)
        if cpu is not None and cpu <= 0:
            raise TidemillError(f"no query runs with cpu={cpu}", help="for example cpu=0.8")
        self.bound = Demand(inf if memory is None else parse_bytes(memory), cpu or inf)
        self.target = self.bound * (1 - reserve)
        self.estimates = GraphEstimates(work=cpu is not None)
        # The same graph at the smallest sizes: what is left to be gained by adapting.
        self._least = GraphEstimates(work=cpu is not None)
        self._least.calibration = self.estimates.calibration
        self._strategy = STRATEGIES[strategy]
        self._threshold = threshold
        self._rates: dict[str, RateMeter] = {}
        self._transition: Transition | None = None
        self._resting: dict[str, int] = {}
        self._pace = 0.0
        self._is_clock = False
        self._last: Readings | None = None
        self._looked = 0
        self._known = Statistics()

    # What is decided

    def admit(self, name: str, plan: Exec, knobs: Sequence[Knob], statistics: Statistics) -> None:
        """Refuse a query if there is no room for it, even with all sizes as small as allowed.

        `knobs` are those of the query. If there is room, `observe` finds out at which sizes.
        """
        before = list(self._least.parts)
        for stream in _streams(plan):
            self._meter(stream)
        self._learn(statistics)
        self._least.extend(nodes_of(plan), self._now)
        usage = self._least.at({knob.name: knob.low for knob in knobs})
        need = Demand(usage.state_bytes, usage.seconds * self._pace)
        if not need.within(self.target):
            self._least.revise(before)
            raise self._refusal(name, need)
        self.estimates.extend(nodes_of(plan), self._now)

    def observe(
        self, readings: Readings, knobs: Sequence[Knob], statistics: Statistics
    ) -> Settings:
        """Compare with what was measured, and decide which sizes must change for it."""
        self._measure_rates(readings)
        self._measure_pace(readings)
        looks = readings.ticks % LOOK_EVERY == 0
        if looks:
            self._calibrate(readings)
        self._transition = Transition(
            self.estimates, readings.nodes, readings.histories, readings.now
        )
        self._last = readings
        learnt = self._learn(statistics)
        need = self._demand({}).over(self.target)
        if need > 1 or learnt or looks:
            found = self._sizes(knobs)
            return self._smallest(knobs) if found is None else found
        return {}

    def first_sizes(self, knobs: Sequence[Knob]) -> Settings:
        """Before the first row: the sizes that must change for what is known of the streams."""
        if self._demand({}).over(self.target) <= 1:
            return {}
        found = self._sizes(knobs)
        return self._smallest(knobs) if found is None else found

    def revised(self, nodes: Iterable[Exec], carried: Mapping[Exec, Exec] | None = None) -> None:
        """Take note that other operators run from now on."""
        nodes = list(nodes)
        for estimates in (self.estimates, self._least):
            estimates.revise(nodes, carried, self._now)

    def changed(self, sizes: Settings) -> None:
        """Take note that sizes were changed."""
        for name, size in sizes.items():
            longest = max(self.estimates.sizes.get(name, size), size)
            self._resting[name] = max(self._resting.get(name, 0), self._now + longest)
        self.estimates.at(sizes)

    @property
    def demand(self) -> Demand:
        """What the graph is estimated to need in the long run at the sizes that are set."""
        return self._steady({})

    def _sizes(self, knobs: Sequence[Knob]) -> Settings | None:
        """The sizes that change: because there is too little room, or enough for larger ones."""
        now = dict(self.estimates.sizes)
        knobs = [knob for knob in knobs if knob.name in now]
        need = self._demand({}).over(self.target)
        at_best = all(now[knob.name] == knob.high for knob in knobs)
        if need <= 1 and (at_best or need > 1 - SPARE):
            return {}
        found = self._strategy(knobs, self._demand, self.target * AIM)
        if found is None:
            found = self._strategy(knobs, self._demand, self.target)
        self.estimates.at(now)
        if found is None:
            return None
        return {name: size for name, size in found.items() if size != now[name]}

    def _smallest(self, knobs: Sequence[Knob]) -> Settings:
        """Nothing fits: what is running goes on as small as it may."""
        now = self.estimates.sizes
        return {knob.name: knob.low for knob in knobs if now.get(knob.name, knob.low) != knob.low}

    def _steady(self, sizes: Settings) -> Demand:
        """What is needed in the long run."""
        usage = self.estimates.at(sizes)
        return Demand(usage.state_bytes, usage.seconds * self._pace)

    def _demand(self, sizes: Settings) -> Demand:
        """What is needed in the long run, or on the way there if that is closer to its bound."""
        steady = self._steady(sizes)
        if self._transition is None or self.bound.memory == inf:
            return steady
        peak = steady.memory + self._transition.left(self.estimates.sizes)
        in_the_way = peak * self.target.memory / (BRIM * self.bound.memory)
        return Demand(max(steady.memory, in_the_way), steady.cpu)

    # What is known

    @property
    def _now(self) -> int:
        return self._last.now if self._last is not None else 0

    def _learn(self, statistics: Statistics) -> bool:
        """Estimate again if rates have moved far enough; those of now win."""
        known = self._with_rates(statistics)
        moved = self._known.moved(known, self._threshold)
        if moved:
            self._known = known
            self.estimates.learn(known)
            self._least.learn(known)
        return bool(moved)

    def _with_rates(self, statistics: Statistics) -> Statistics:
        """What is known, with the rates of now."""
        streams = dict(statistics.streams)
        for name, meter in self._rates.items():
            rate = meter.rate() or statistics.of(name).rate or UNKNOWN_RATE
            # The granule of a stream is that of its first rows, which may be far off.
            streams[name] = replace(statistics.of(name), rate=rate, granularity=None, length=None)
        return Statistics(streams, statistics.selectivities)

    def _meter(self, stream: str) -> RateMeter:
        return self._rates.setdefault(stream, RateMeter(rows=RECENT_ROWS))

    def _calibrate(self, readings: Readings) -> None:
        """Learn from operators whose states have come to rest."""
        instants = readings.now - self._looked
        parts = [
            (part, readings.nodes[node])
            for node, part in self.estimates.parts.items()
            if node in readings.nodes
        ]
        pairs = [
            (part.kind, part.usage, _measured(part, progress, instants))
            for part, progress in parts
            if part.usage is not None and instants > 0 and self._rests(part, readings.now)
        ]
        for part, progress in parts:
            part.spent = progress.seconds
        self._looked = readings.now
        if pairs:
            self.estimates.calibration.observe(pairs)

    def _rests(self, part: Part, now: int) -> bool:
        sizes = (self.estimates.sizes[name] for name in part.knobs)
        changed = max((self._resting.get(name, 0) for name in part.knobs), default=0)
        return now >= max(part.born + max([part.span, *sizes]), changed)

    def follow_clock(self) -> None:
        """Time in the streams is that of a clock, in microseconds."""
        self._pace, self._is_clock = 1e6, True

    def _measure_rates(self, readings: Readings) -> None:
        """How many rows of every stream come per instant."""
        for name, rows in readings.rows.items():
            meter = self._meter(name)
            if self._last is not None:
                meter.begin(self._last.now)  # what was not read before has brought nothing
            meter.note(rows, readings.now)

    def _measure_pace(self, readings: Readings) -> None:
        """How many instants pass in a second; a clock's time needs no measuring."""
        last = self._last
        if self._is_clock or last is None or readings.seconds <= last.seconds:
            return
        pace = (readings.now - last.now) / (readings.seconds - last.seconds)
        self._pace = pace if not self._pace else 0.8 * self._pace + 0.2 * pace

    def _refusal(self, name: str, least: Demand) -> ResourceError:
        parts = []
        if least.memory > self.target.memory:
            parts.append(f"{shown_bytes(least.memory)} of memory")
        if least.cpu > self.target.cpu:
            parts.append(f"{least.cpu:.0%} of a core")
        bound = [shown_bytes(self.bound.memory)] if self.bound.memory < inf else []
        bound += [f"{self.bound.cpu:.0%} of a core"] if self.bound.cpu < inf else []
        return ResourceError(
            f"there is no room for the query `{name}`: with it, the graph is estimated to need "
            f"{' and '.join(parts)} at the smallest sizes allowed; of {' and '.join(bound)}, "
            f"{1 - self.target.over(self.bound):.0%} are kept in reserve",
            help="stop other queries, give them wider bounds (WINDOW(RANGE MIN .., MAX ..), "
            "GRANULARITY(COARSEST .., FINEST ..)), or raise the bound of the engine",
        )


def _streams(plan: Exec) -> Iterator[str]:
    for node in nodes_of(plan):
        if isinstance(node, SourceExec) and node.scan.kind is SourceKind.STREAM:
            yield node.scan.source


def _measured(part: Part, progress: OperatorProgress, instants: int) -> Usage:
    spent = (progress.seconds - part.spent) / instants
    return Usage(progress.state_rows, progress.state_bytes, spent)
