"""Cut plans into stages, and cut them again when plans come and go.

What plans have in common with those before keeps its place and its tags: the same operators, in
the same partitions, fed by the same exchanges, can go on with what they remember.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from tidemill.algebra.plan import Memo, Plan
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.stages.colocation import Columns, Placed
from tidemill.stages.exchange import ExchangeExec, Mode, bare_plans
from tidemill.stages.placement import Placement
from tidemill.stages.stages import NOWHERE, Exchange, ReceiveExec, Stage, Staged, is_native

_Key = tuple[Plan, int, Mode, Columns]


@dataclass(frozen=True)
class Staging:
    """Plans in stages, and what is needed to stage other plans in their place.

    `locals` are the operators of stages by the parts of the plans that they run: those have
    leaves where rows come from other levels. Where there is one partition now, but were or may be
    others, there are `exchanges` all the same. What was in one partition when others were added
    stays `whole`: no operator works in two phases.
    """

    partitions: int = 2
    staged: Staged = field(default_factory=Staged)
    placed: Mapping[Plan, Placed] = field(default_factory=dict)
    wishes: Mapping[Plan, Columns | None] = field(default_factory=dict)
    locals: Mapping[Exec, Exec] = field(default_factory=dict)
    next_tag: int = 0
    exchanges: bool = False
    whole: bool = False

    @cached_property
    def bare(self) -> Memo[Exec, Exec]:
        """The parts of plans as if rows moved nowhere: so they are found again elsewhere."""
        return bare_plans()

    @cached_property
    def readings(self) -> Mapping[str, Sequence[SourceExec]]:
        """The readings of sources in these plans, by the name of the source."""
        found: dict[str, list[SourceExec]] = {}
        for node in self.placed:
            if isinstance(node, SourceExec):
                found.setdefault(node.scan.source, []).append(node)
        return found

    def then(
        self,
        plans: Sequence[Exec],
        carried: Mapping[Exec, Exec] | None = None,
        statistics: Statistics | None = None,
    ) -> Staging:
        """Other plans in place of these; `carried` are new parts that take the place of old ones.

        Without such, it is a first staging that knows nothing. New parts are placed by the
        `statistics` of sources.
        """
        alike: dict[Plan, Columns | None] = {
            new: self.wishes.get(old) for new, old in (carried or {}).items()
        }
        wishes = {**alike, **self.wishes}
        placement = Placement(
            self.partitions, self.placed, wishes, self.exchanges, self.whole, statistics
        )
        whole = [placement.place(plan).plan for plan in plans]
        cutter = _Cutter(self)
        staged = cutter.cut(whole)
        # Always in the same order, since parts are reported in it.
        needed = dict.fromkeys(node for plan in plans for node in reversed(list(plan.walk())))
        return Staging(
            self.partitions,
            staged,
            {node: placement.placed[node] for node in needed},
            {node: placement.wish_of(node) for node in needed},
            cutter.locals,
            cutter.next_tag,
            self.exchanges,
            self.whole,
        )


def stage_plans(
    plans: Sequence[Exec], partitions: int = 2, statistics: Statistics | None = None
) -> Staged:
    """Place exchanges in plans and cut them into stages; what they have in common is one.

    The number of partitions matters only to what divides its memory among them.
    """
    return Staging(partitions).then(plans, statistics=statistics).staged


class _Cutter:
    def __init__(self, before: Staging) -> None:
        self._before = before
        self._levels: dict[Plan, int] = {}
        self._exchanges: dict[int, Exchange] = {}
        self._new: dict[_Key, Exchange] = {}
        self._known = {_key(exchange): exchange for exchange in before.staged.exchanges}
        self.locals: dict[Exec, Exec] = {}
        self.next_tag = before.next_tag

    def cut(self, plans: Sequence[Exec]) -> Staged:
        results = [self._exchange((plan, NOWHERE, Mode.KEEP, ())) for plan in plans]
        roots: dict[int, dict[int, Exec]] = {}
        waiting = list(dict.fromkeys(results))
        while waiting:
            exchange = waiting.pop()
            known = len(self._exchanges)
            if exchange.made_at > 0:
                local = self._local(exchange.producer, exchange.made_at)
                roots.setdefault(exchange.made_at, {})[exchange.tag] = local
            # (All of them are not looked through each time: there may be a hundred thousand.)
            came = islice(reversed(self._exchanges.values()), len(self._exchanges) - known)
            waiting.extend(reversed(list(came)))
        stages = [Stage(n, tuple(sorted(roots[n].items()))) for n in sorted(roots)]
        tags = tuple(exchange.tag for exchange in results)
        return Staged(tuple(plans), tuple(self._exchanges.values()), tuple(stages), tags)

    def _level(self, node: Plan) -> int:
        if node not in self._levels:
            self._levels[node] = self._compute_level(node)
        return self._levels[node]

    def _compute_level(self, node: Plan) -> int:
        if is_native(node):
            return 0
        if isinstance(node, ExchangeExec):
            return self._level(node.child)
        return max(1, *(self._needed_level(child) for child in node.children))

    def _needed_level(self, child: Plan) -> int:
        """Below which level an operator over this child cannot run."""
        return self._level(child) + int(isinstance(child, ExchangeExec) or is_native(child))

    def _local(self, node: Exec, level: int) -> Exec:
        """A node of this level, with leaves where rows come from other levels."""
        if node not in self.locals:
            old = self._before.locals.get(node)
            if old is None:
                children = [self._input(child, level) for child in node.children]
                self.locals[node] = node.with_children(children)
            else:
                self._go_on(node, old, level)
        return self.locals[node]

    def _go_on(self, node: Exec, old: Exec, level: int) -> None:
        """What has run before keeps its leaves."""
        self.locals[node] = old
        for child, local in zip(node.children, old.children, strict=True):
            if isinstance(local, ReceiveExec):
                exchange = self._before.staged.exchange(local.tag)
                self._exchanges.setdefault(exchange.tag, exchange)
            else:
                self._local(child, level)

    def _input(self, child: Exec, level: int) -> Exec:
        if isinstance(child, ExchangeExec):
            return self._leaf(child.child, level, child.mode, child.keys)
        if self._level(child) < level:
            # Another input comes from a higher level: these rows wait for it where they are.
            return self._leaf(child, level, Mode.KEEP, ())
        return self._local(child, level)

    def _leaf(self, producer: Plan, level: int, mode: Mode, keys: Columns) -> Exec:
        if self._level(producer) == 0 and mode is Mode.KEEP:
            mode = Mode.SPREAD  # rows next to a source are in no partition yet
        return ReceiveExec(self._exchange((producer, level, mode, keys)).tag, producer.schema)

    def _exchange(self, key: _Key) -> Exchange:
        exchange = self._known.get(key) or self._new.get(key)
        if exchange is None:
            producer, level, mode, keys = key
            assert isinstance(producer, Exec)
            exchange = Exchange(self.next_tag, producer, self._level(producer), level, mode, keys)
            self._new[key] = exchange
            self.next_tag += 1
        self._exchanges.setdefault(exchange.tag, exchange)
        return exchange


def _key(exchange: Exchange) -> _Key:
    return exchange.producer, exchange.used_at, exchange.mode, exchange.keys
