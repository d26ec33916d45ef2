"""How large the streams between the operators of a plan are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce, singledispatchmethod
from math import isnan, prod

from tidemill.algebra import nodes, sets
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.scalar import Scalar, conjuncts
from tidemill.algebra.star import StarJoin
from tidemill.algebra.unnest import Unnest
from tidemill.optimize.cost import characteristics, copies, discrete, matching
from tidemill.optimize.cost.characteristics import LIFETIME, Characteristics, hit
from tidemill.optimize.cost.selectivity import Selectivities
from tidemill.optimize.cost.values import Values
from tidemill.optimize.sharing import Shared
from tidemill.optimize.statistics import Statistics
from tidemill.timeline import TimeDomain

DEFAULT_RATES = {TimeDomain.TICKS: 1.0, TimeDomain.MICROSECONDS: 1e-3}
"""Rows per instant of an unknown stream: one, or a thousand a second.

All unknown streams get the same rate, so that their windows decide which is the larger one.
"""

DEFAULT_ROWS = 1000.0
"""Rows of a relation of unknown size: large enough that it is not treated as a single row."""

GROUP_SHARE = 0.1
"""Groups per live row where nothing is known of the keys: grouping is written to shrink."""

ELEMENTS = 4.0
"""Elements of a list: how long lists are is not part of the statistics."""

_SHORTEST = 1e-30  # the distance of rows that come faster than can be measured


class Estimator:
    """Rates, live rows, distinct values and selectivities of logical plans.

    It visits every part of a plan once. `domain` only sets the rate of unknown streams.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Scan, Schema, TimeWindow
    >>> from tidemill.optimize.statistics import StreamStatistics
    >>> bid = TimeWindow(Scan("bid", "b", Schema.of(item=pa.int64())), 600)
    >>> known = Statistics({"bid": StreamStatistics(rate=0.5, distinct={"item": 20})})
    >>> estimator = Estimator(known)
    >>> estimator.of(bid)
    Characteristics(distance=2.0, length=600, granularity=1)
    >>> estimator.live_rows(bid), round(estimator.distinct(bid, "b.item"))
    (300.0, 20)
    """

    def __init__(
        self, statistics: Statistics | None = None, domain: TimeDomain = TimeDomain.TICKS
    ) -> None:
        self.statistics = statistics or Statistics()
        self._default_rate = DEFAULT_RATES[domain]
        self._values = Values(self)
        self._selectivities = Selectivities(self)
        self.of: Memo[Plan, Characteristics] = Memo(self._estimated)
        """The result of a plan as a stream."""
        self.names: Memo[Plan, frozenset[str]] = Memo(lambda plan: frozenset(plan.schema.names))
        """The columns of a plan."""
        self.conjuncts: Memo[Scalar, tuple[Scalar, ...]] = Memo(conjuncts)
        """The parts of a condition; always the same objects."""

    def _estimated(self, plan: Plan) -> Characteristics:
        return _tamed(self._rule(plan))

    @singledispatchmethod
    def _rule(self, plan: Plan) -> Characteristics:
        """The estimate of a node; each kind of node registers its own."""
        raise TypeError(f"the cost model knows nothing of {type(plan).__name__}")

    def forget(self, plans: Iterable[Plan]) -> None:
        """Look at these plans anew; those above them have to be forgotten too."""
        for plan in plans:
            self.of.forget(plan)

    def rate(self, plan: Plan) -> float:
        """Rows that start per instant."""
        return self.of(plan).rate

    def live_rows(self, plan: Plan) -> float:
        """Rows that hold at an instant; of a relation, its rows."""
        return self.of(plan).live_rows

    def distinct(self, plan: Plan, *columns: str) -> float:
        """Different values of the columns together among the rows that hold at a time."""
        live = self.live_rows(plan)
        domain = self.domain(plan, columns)
        if domain is None:
            return max(1.0, GROUP_SHARE * live)
        return max(1.0, min(live, domain * hit(1 / domain, live)))

    def domain(self, plan: Plan, columns: Iterable[str]) -> float | None:
        """Different values of the columns together over all time; None if not known."""
        found = [self._values.of(plan, column) for column in columns]
        known = [max(1.0, values) for values in found if values is not None]
        return prod(known) if len(known) == len(found) else None

    def groups(self, plan: Plan, columns: Iterable[str]) -> float:
        """Groups over all time: of the columns if their values are known, else a guess."""
        domain = self.domain(plan, columns)
        return max(1.0, GROUP_SHARE * self.live_rows(plan)) if domain is None else domain

    def selectivity(self, condition: Scalar | None, *inputs: Plan) -> float:
        """The share of rows, or of pairs of rows of the inputs, that meet a condition."""
        return 1.0 if condition is None else self._selectivities.of(condition, inputs)

    def multi_join(self, inputs: tuple[Plan, ...], condition: Scalar | None) -> Characteristics:
        """Inputs joined at once, in whatever order."""
        together = reduce(discrete.product, map(self.of, inputs))
        return characteristics.filtered(together, self.selectivity(condition, *inputs))

    # Leaves

    @_rule.register
    def _shared(self, plan: Shared) -> Characteristics:
        return self.of(plan.part)

    @_rule.register
    def _scan(self, plan: nodes.Scan) -> Characteristics:
        known = self.statistics.of(plan.source)
        granule = known.granularity or 1
        if plan.kind is nodes.SourceKind.STREAM:
            rate = known.rate or self._default_rate
            return Characteristics(1 / rate, granule, granule, instants=True)
        if plan.kind is nodes.SourceKind.INTERVALS and known.rate and known.length:
            return Characteristics(1 / known.rate, known.length, granule)
        rows = known.rows if known.rows is not None else plan.rows
        return Characteristics.of_relation(DEFAULT_ROWS if rows is None else rows)

    # Single rows

    @_rule.register
    def _filter(self, plan: nodes.Filter) -> Characteristics:
        share = self.selectivity(plan.predicate, plan.child)
        return characteristics.filtered(self.of(plan.child), share)

    @_rule.register
    def _project(self, plan: nodes.Project) -> Characteristics:
        return characteristics.mapped(self.of(plan.child))

    @_rule.register
    def _unnest(self, plan: Unnest) -> Characteristics:
        return characteristics.filtered(self.of(plan.child), ELEMENTS)

    # Windows

    @_rule.register
    def _timewindow(self, plan: nodes.TimeWindow) -> Characteristics:
        size = LIFETIME if plan.current is None else plan.current
        window = characteristics.time_window(discrete.instants(self.of(plan.child)), size)
        # A window that slides changes at multiples of the slide, as if it were coarsened.
        return characteristics.coarsened(window, max(plan.slide, window.granularity))

    @_rule.register
    def _countwindow(self, plan: nodes.CountWindow) -> Characteristics:
        stream = discrete.instants(self.of(plan.child))
        if plan.current is None:
            return replace(stream, length=LIFETIME, instants=False)
        partitions = self.groups(plan.child, plan.partition_by) if plan.partition_by else 1.0
        window = characteristics.partitioned_window(stream, partitions, plan.current)
        # In steps, rows start when a step is complete.
        step = plan.slide * partitions * stream.distance if plan.slide > 1 else 0.0
        return replace(window, granularity=max(window.granularity, step))

    @_rule.register
    def _sessionwindow(self, plan: nodes.SessionWindow) -> Characteristics:
        stream = discrete.instants(self.of(plan.child))
        partitions = self.groups(plan.child, plan.partition_by) if plan.partition_by else 1.0
        length = characteristics.session_length(stream.rate / partitions, plan.gap)
        return characteristics.time_window(stream, min(length, LIFETIME))

    @_rule.register
    def _granularity(self, plan: nodes.Granularity) -> Characteristics:
        return characteristics.coarsened(self.of(plan.child), plan.current)

    @_rule.register(nodes.Istream)
    @_rule.register(nodes.Dstream)
    def _changes(self, plan: nodes.Unary) -> Characteristics:
        stream, values = self.of(plan.child), self.domain(plan.child, plan.schema.names)
        if values is not None:
            return copies.arrivals(stream, values)
        return replace(stream, length=stream.granularity, instants=True)

    @_rule.register
    def _rstream(self, plan: nodes.Rstream) -> Characteristics:
        return discrete.instants(self.of(plan.child))

    # Rows of one input together

    @_rule.register
    def _distinct(self, plan: nodes.Distinct) -> Characteristics:
        values = self.groups(plan.child, plan.schema.names)
        return discrete.deduplicated(self.of(plan.child), values)

    @_rule.register
    def _aggregate(self, plan: nodes.Aggregate) -> Characteristics:
        groups = self.groups(plan.child, plan.keys) if plan.keys else 1.0
        return discrete.grouped(self.of(plan.child), groups, self._starts_meet_ends(plan))

    def _starts_meet_ends(self, plan: nodes.Aggregate) -> bool:
        """Whether rows of a group end, as a rule, when others of it start.

        Those of a count window do, and those of duplicate elimination if values are mostly there.
        """
        below = plan.child
        while isinstance(below, nodes.Project):
            below = below.child
        match below:
            case nodes.CountWindow():
                return set(plan.keys) <= set(below.partition_by)
            case nodes.Distinct():
                values = self.groups(below.child, below.schema.names)
                return self.live_rows(below) > values / 2
        return False

    @_rule.register
    def _topk(self, plan: nodes.TopK) -> Characteristics:
        return discrete.top(self.of(plan.child), plan.limit, plan.offset)

    @_rule.register
    def _over_rows(self, plan: OverRows) -> Characteristics:
        """Rows are cut wherever their partition changes, unless their values stay the same."""
        stream = self.of(plan.child)
        pieces = min(self.partition_rows(plan), stream.length / stream.granularity)
        rate = stream.rate * max(1.0, pieces)
        return Characteristics.of_rate(rate, stream.live_rows, stream.granularity, stream.instants)

    def partition_rows(self, plan: OverRows) -> float:
        """Rows of a partition at a time."""
        partitions = self.distinct(plan.child, *plan.partition_by) if plan.partition_by else 1.0
        return self.live_rows(plan.child) / max(1.0, partitions)

    @_rule.register
    def _ranking(self, plan: Ranking) -> Characteristics:
        return self.of(plan.exact)

    # Two inputs and more

    @_rule.register
    def _join(self, plan: nodes.Join) -> Characteristics:
        return self.multi_join((plan.left, plan.right), plan.condition)

    @_rule.register
    def _multijoin(self, plan: nodes.MultiJoin) -> Characteristics:
        return self.multi_join(plan.inputs, plan.condition)

    @_rule.register
    def _starjoin(self, plan: StarJoin) -> Characteristics:
        """As if nothing were shed."""
        return self.multi_join(plan.children, plan.condition)

    @_rule.register
    def _semijoin(self, plan: nodes.SemiJoin) -> Characteristics:
        return matching.semi_joined(*self._sides(plan), self._matching(plan))

    @_rule.register
    def _antijoin(self, plan: nodes.AntiJoin) -> Characteristics:
        return matching.anti_joined(*self._sides(plan), self._matching(plan))

    def _matching(self, plan: nodes.Conditional) -> float:
        return self.selectivity(plan.condition, plan.left, plan.right)

    @_rule.register
    def _union(self, plan: sets.Union) -> Characteristics:
        return characteristics.united(self._sides(plan))

    @_rule.register
    def _set_operation(self, plan: sets.SetOperation) -> Characteristics:
        return copies.combined(plan, *self._sides(plan), self._rows(plan))

    def _sides(self, plan: nodes.Binary) -> tuple[Characteristics, Characteristics]:
        return self.of(plan.left), self.of(plan.right)

    def _rows(self, plan: sets.SetOperation) -> float:
        """Different rows on both sides, which are taken to have the same ones."""
        return max(self.groups(side, plan.schema.names) for side in (plan.left, plan.right))


def _tamed(stream: Characteristics) -> Characteristics:
    """Wild statistics, such as rates beyond all numbers, must not stop a query from being made."""
    distance = LIFETIME if isnan(stream.distance) else max(stream.distance, _SHORTEST)
    length = 1.0 if isnan(stream.length) else min(max(stream.length, 0.0), LIFETIME)
    if (distance, length) == (stream.distance, stream.length):
        return stream
    return replace(stream, distance=distance, length=length)
