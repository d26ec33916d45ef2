"""The resource manager: which queries a graph takes in, and at which sizes they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from tidemill.errors import ResourceError, TidemillError
from tidemill.graph.manager.estimates import GraphEstimates
from tidemill.graph.manager.knobs import Demand, Knob
from tidemill.graph.manager.rates import Rates
from tidemill.graph.manager.settling import Settling
from tidemill.graph.manager.sizes import parse_bytes, shown_bytes
from tidemill.graph.manager.strategy import STRATEGIES, Settings
from tidemill.optimize.cost.usage import Usage
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.physical.operator import Exec
from tidemill.runtime.graph import NodeProgress
from tidemill.timeline import TimeDomain

RESERVE = 0.2
"""Of what there is, the share that is kept for bursts and for sizes that take their time."""

THRESHOLD = 1.25
"""A rate that has moved by more than this factor changes the estimates."""

SPARE = 0.1
"""Sizes grow again if at least this share of what may be used is free."""

UNKNOWN_RATE = 1e-12
"""Of a stream of which nothing is known: its queries are let in, and measured."""


@dataclass(frozen=True)
class Readings:
    """What is measured of a running graph after a tick."""

    nodes: Mapping[Exec, NodeProgress]
    rows: Mapping[str, int]
    now: int
    seconds: float
    ticks: int = 0

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
        domain: TimeDomain = TimeDomain.TICKS,
    ) -> None:
        if strategy not in STRATEGIES:
            help = f"strategies: {', '.join(STRATEGIES)}"
            raise TidemillError(f"there is no strategy `{strategy}`", help=help)
        if cpu is not None and cpu <= 0:
            raise TidemillError(f"no query runs with cpu={cpu}", help="for example cpu=0.8")
        self.bound = Demand(inf if memory is None else parse_bytes(memory), cpu or inf)
        self.target = self.bound * (1 - reserve)
        self.estimates = GraphEstimates(domain=domain, work=cpu is not None)
        self._strategy = STRATEGIES[strategy]
        self._threshold = threshold
        self._rates = Rates()
        self._settling = Settling()
        self._pace = 1e6 if domain is TimeDomain.MICROSECONDS else 0.0
        self._measured_pace = domain is TimeDomain.TICKS
        self._last: Readings | None = None
        self._known = Statistics()

    # What is decided

    def admit(
        self,
        name: str,
        roots: Iterable[Exec],
        knobs: Sequence[Knob],
        statistics: Statistics,
    ) -> Settings:
        """The sizes at which a graph has room for one more query, which `roots` include.

        Only sizes that change are named. If there is no room at any sizes, the query is refused.
        """
        before = list(self.estimates.parts)
        self._learn(statistics)
        self.revised(roots)
        found = self._sizes(knobs)
        if found is None:
            least = self._demand({knob.name: knob.low for knob in knobs})
            self.estimates.revise(before)
            raise self._refusal(name, least)
        return found

    def observe(
        self, readings: Readings, knobs: Sequence[Knob], statistics: Statistics
    ) -> Settings:
        """Compare with what was measured, and decide which sizes must change for it."""
        self._rates.look(readings.rows, readings.now)
        self._measure_pace(readings)
        learnt = self._learn(statistics)
        calibrated = self._calibrate(readings)
        self._last = readings
        if not learnt and not calibrated and self._demand({}).within(self.target):
            return {}
        return self._sizes(knobs) or self._smallest(knobs)

    def revised(self, roots: Iterable[Exec], carried: Mapping[Exec, Exec] | None = None) -> None:
        """Take note that other plans run from now on."""
        self.estimates.revise(roots, carried)

    def changed(self, sizes: Settings, at: int) -> None:
        """Take note that sizes were changed for the rows that start then."""
        for name, size in sizes.items():
            self._settling.changed(name, at, max(self.estimates.sizes.get(name, size), size))
        self.estimates.at(sizes)

    @property
    def demand(self) -> Demand:
        """What the graph is estimated to need at the sizes that are set."""
        return self._demand({})

    def _sizes(self, knobs: Sequence[Knob]) -> Settings | None:
        """The sizes that change: because there is too little room, or enough for larger ones."""
        now = dict(self.estimates.sizes)
        knobs = [knob for knob in knobs if knob.name in now]
        need = self._demand({}).over(self.target)
        at_best = all(now[knob.name] == knob.high for knob in knobs)
        if need <= 1 and (at_best or need > 1 - SPARE):
            return {}
        found = self._strategy(knobs, self._demand, self.target)
        self.estimates.at(now)
        if found is None:
            return None
        return {name: size for name, size in found.items() if size != now[name]}

    def _smallest(self, knobs: Sequence[Knob]) -> Settings:
        """Nothing fits: what is running goes on as small as it may."""
        now = self.estimates.sizes
        return {knob.name: knob.low for knob in knobs if now.get(knob.name, knob.low) != knob.low}

    def _demand(self, sizes: Settings) -> Demand:
        return self.estimates.demand(self.estimates.at(sizes), self._pace)

    # What is known

    def _learn(self, statistics: Statistics) -> bool:
        """Estimate again if rates have moved far enough; those of now win."""
        known = self._with_rates(statistics)
        moved = self._known.moved(known, self._threshold)
        if moved or (not self._known.streams and known.streams):
            self._known = known
            self.estimates.learn(known)
        return bool(moved)

    def _with_rates(self, statistics: Statistics) -> Statistics:
        rates = self._rates.known()
        names = {*statistics.streams, *rates}
        streams = {}
        for name in names:
            told = statistics.of(name)
            rate = rates.get(name, told.rate) or UNKNOWN_RATE
            streams[name] = replace(told, rate=rate)
        return Statistics(streams, statistics.selectivities)

    def _calibrate(self, readings: Readings) -> bool:
        """Learn from operators whose states have come to rest; whether there was need for it."""
        pairs = []
        for node, part in self.estimates.parts.items():
            progress = readings.nodes.get(node)
            if progress is None or not part.own:
                continue
            if self._settling.is_settled(node, part, self.estimates.sizes, readings.now):
                pairs.append((part.kind, part.usage, self._measured(node, progress, readings)))
        if not pairs or not self._settling.is_due(readings.now):
            return False
        before = self._demand({}).memory
        self.estimates.calibration.observe(pairs)
        return abs(self._demand({}).memory - before) > SPARE / 2 * before

    def _measured(self, node: Exec, progress: NodeProgress, readings: Readings) -> Usage:
        last = self._last
        before = last.nodes.get(node) if last is not None else None
        seconds = progress.seconds - (before.seconds if before is not None else 0.0)
        instants = readings.now - (last.now if last is not None else 0)
        spent = seconds / instants if instants > 0 else 0.0
        return Usage(progress.state_rows, progress.state_bytes, spent)

    def _measure_pace(self, readings: Readings) -> None:
        """How many instants pass in a second; a clock's time needs no measuring."""
        last = self._last
        if not self._measured_pace or last is None or readings.seconds <= last.seconds:
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
