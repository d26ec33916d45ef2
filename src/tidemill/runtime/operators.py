"""Running operators: one for every different part of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from tidemill.deadline import UNLIMITED, TickLimits, look
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Bools
from tidemill.physical.mechanisms.once import ONCE
from tidemill.physical.operator import Exec, Operator, empty_batch
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.lookup import LookupExec
from tidemill.physical.operators.pick import PickExec
from tidemill.runtime.budget import Budget
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.timeline import BEGIN

Arrival = tuple[pl.DataFrame, int]
"""New rows, and the watermark: no later row starts before it."""


@dataclass
class _Part:
    """A part of the plans that runs: its operator, its inputs, and an empty result.

    `users` are the parts and roots that read it; `number` is its place in the order of all.
    """

    node: Exec
    operator: Operator | None
    progress: OperatorProgress
    inputs: list[_Part]
    nothing: pl.DataFrame
    users: int = 0
    number: int = -1


class Graph:
    """The operators of some plans. Equal parts are one operator, however often they occur.

    The plans may be replaced by others between two ticks: `revise`.
    """

    def __init__(self, *roots: Exec, partition: int = 0) -> None:
        self._partition = partition
        self._parts: dict[Exec, _Part] = {}
        self._roots: list[_Part] = []
        self._order: list[_Part] | None = None
        self._walked: list[_Part] = []
        self._dealt: Mapping[int, Mapping[int, _Part]] = {}
        self.failures: dict[Exec, Exception] = {}
        self._budget: Budget | None = None
        self.redo_seconds = self.save_seconds = 0.0  # since, and for, the last snapshot
        self.revise(roots)

    @property
    def nodes(self) -> list[Exec]:
        """All parts, inputs first."""
        return [part.node for part in self._ordered]

    @property
    def leaves(self) -> list[Exec]:
        """The parts that the runtime feeds, in the order in which `step` wants their rows."""
        return [part.node for part in self._ordered if part.operator is None]

    @property
    def progress(self) -> list[OperatorProgress]:
        """What the parts have done, in their order."""
        return [part.progress for part in self._ordered]

    def count_anew(self) -> None:
        """Forget what the parts have done: from now on they count the next tick."""
        for part in self._ordered:
            part.progress = OperatorProgress(part.node.label)

    @property
    def _ordered(self) -> list[_Part]:
        """All parts in the order of `nodes_of`, which does not depend on what was here before."""
        if self._order is None:
            for part in self._parts.values():
                part.number = -1
            self._order = []
            for root in self._roots:
                _number(root, self._order)
            self._dealt = _dealt(self._order)
            gone = {id(part) for picks in self._dealt.values() for part in picks.values()}
            self._walked = [part for part in self._order if id(part) not in gone]
        return self._order

    def revise(self, roots: Sequence[Exec], carried: Mapping[Exec, Exec] | None = None) -> None:
        """Go on with other plans: equal parts, and those `carried`, keep what they remember.

        `carried` names the old part whose place a new one takes. An old one that takes its own
        place stays, and a new one begins with a copy of what it remembers. Other new parts begin
        empty; what is not needed any more is forgotten. Without `carried`, only parts that come
        or go cost time.
        """
        places = places_of(carried or {})
        kept = {} if places else self._parts
        made: dict[Exec, _Part] = {}
        # Thousands of roots may stay: those in their places need not be looked for.
        same = [] if places else self._roots
        now = [
            part if part is not None and part.node is root else self._find(root, kept, made, places)
            for root, part in zip_longest(roots, same[: len(roots)])
        ]
        # Nothing has changed up to here: a part that cannot be made leaves the graph as it was.
        before, self._roots, self._order = self._roots, now, None
        moves = [(new, old) for new, old in zip_longest(now, before) if places or new is not old]
        came = [new for new, _ in moves if new is not None]
        for part in [*(below for new in made.values() for below in new.inputs), *came]:
            part.users += 1
        if places:
            self._parts = made
        else:
            self._parts.update(made)
            for _, gone in moves:
                if gone is not None:
                    self._leave(gone)
        self.failures = {n: error for n, error in self.failures.items() if n in self._parts}

    def _find(
        self,
        node: Exec,
        kept: Mapping[Exec, _Part],
        made: dict[Exec, _Part],
        places: Mapping[Exec, Exec | None],
    ) -> _Part:
        """The part of a node, made unless it is there."""
        part = kept.get(node) or made.get(node)
        if part is None:
            inputs = [self._find(child, kept, made, places) for child in node.children]
            place = places.get(node, node)
            old = None if place is None else self._parts.get(place)
            stays = place != node and place is not None and places.get(place) == place
            make = self._copy if stays else self._part
            part = made[node] = make(node, old, inputs)
        return part

    def _copy(self, node: Exec, old: _Part | None, inputs: list[_Part]) -> _Part:
        """A part that begins with what another one remembers, which goes on, too."""
        part = self._part(node, None, inputs)
        if old is not None and old.operator is not None:
            part.operator = copied(node, old.operator, self._partition)
            part.progress = replace(old.progress, operator=node.label)
        return part

    def _part(self, node: Exec, old: _Part | None, inputs: list[_Part]) -> _Part:
        if old is not None:
            progress = replace(old.progress, operator=node.label)
            if old.operator is not None:
                old.operator.take_over(node)
            return _Part(node, old.operator, progress, inputs, old.nothing)
        operator = node.operator() if node.children else None
        if operator is not None:
            operator.start(self._partition)
        return _Part(node, operator, OperatorProgress(node.label), inputs, empty_batch(node.schema))

    def _leave(self, part: _Part) -> None:
        """Take a user away from a part; without any, it is forgotten."""
        part.users -= 1
        if not part.users:
            del self._parts[part.node]
            for below in part.inputs:
                self._leave(below)

    @property
    def root_failures(self) -> list[Exception | None]:
        """Why the roots give nothing more, where they have failed."""
        return [self.failures.get(root.node) for root in self._roots]

    def step(self, arrivals: Sequence[Arrival]) -> list[Arrival]:
        """One tick: new rows at the leaves, in their order; new rows at the roots."""
        results = self._results(arrivals, self._run)
        return [results[root.number] for root in self._roots]

    def try_step(
        self, arrivals: Sequence[Arrival], limits: TickLimits | None = None
    ) -> list[Arrival | None]:
        """One tick in which parts may fail, and with them what depends on them: they give None.

        `failures` tells why. A part that has failed does not run again, and one that takes longer,
        or gives more, than the limits say has failed.
        """
        self._budget = None
        if limits is not None and limits != UNLIMITED:
            self._budget = Budget(limits, self._inputs_of)
        results = self._results(arrivals, self._try)
        self._budget = None
        return [
            None if root.node in self.failures else results[root.number] for root in self._roots
        ]

    def _results(self, arrivals: Sequence[Arrival], run: _Runner) -> list[Arrival]:
        results: list[Arrival] = [_NOTHING] * len(self._ordered)
        leaves = iter(arrivals)
        for part in self._walked:
            if part.operator is None:
                result = next(leaves)
            else:
                result = run(part, part.operator, [results[each.number] for each in part.inputs])
            part.progress.count_out(*result)
            results[part.number] = result
        for below, picks in self._dealt.items():
            self._deal(results[below], picks, results, run)
        ONCE.forget()
        return results

    def _deal(
        self, rows: Arrival, picks: Mapping[int, _Part], results: list[Arrival], run: _Runner
    ) -> None:
        """Give the queries of a shape their rows: those that have none cost next to nothing."""
        batch, mark = rows
        for part in picks.values():
            progress = part.progress
            progress.watermark = progress.reached = mark
            results[part.number] = part.nothing, mark
        node = next(iter(picks.values())).node
        assert isinstance(node, PickExec)
        busy = node.numbers(batch) if batch.height else ()
        for number in picks if self.failures else busy:
            pick = picks.get(number)
            if pick is not None and pick.operator is not None:
                result = results[pick.number] = run(pick, pick.operator, [rows])
                pick.progress.count_out(*result)

    def _inputs_of(self, number: int) -> list[int]:
        return [below.number for below in self._ordered[number].inputs]

    def _try(self, part: _Part, operator: Operator, inputs: list[Arrival]) -> Arrival:
        """Run a part; once it or an input of it has failed, it gives nothing more."""
        if self.failures and self._is_lost(part):
            return part.nothing, part.progress.watermark
        try:
            return self._run(part, operator, inputs)
        except Exception as error:
            self.failures[part.node] = error
            return part.nothing, part.progress.watermark

    def _is_lost(self, part: _Part) -> bool:
        """Whether a part has failed, or one that it reads."""
        below = next((each.node for each in part.inputs if each.node in self.failures), None)
        if below is not None:
            self.failures.setdefault(part.node, self.failures[below])
        return part.node in self.failures

    def tell(self) -> dict[int, bytes]:
        """What operators, by number, want to be known in other partitions before the next tick."""
        told = {
            number: part.operator.tell()
            for number, part in enumerate(self._ordered)
            if part.operator is not None
        }
        return {number: news for number, news in told.items() if news is not None}

    def hear(self, told: Mapping[int, Mapping[int, bytes]]) -> None:
        """Let operators, by number, know what they told in every partition."""
        for number, news in told.items():
            operator = self._ordered[number].operator
            assert operator is not None
            operator.hear(news)

    def _run(self, part: _Part, operator: Operator, inputs: list[Arrival]) -> Arrival:
        batches, marks = [rows for rows, _ in inputs], [mark for _, mark in inputs]
        part.progress.reached = min(marks)
        if not any(rows.height for rows in batches) or operator.ignores(batches):
            resting = operator.rest(marks)
            if resting is not None:
                return part.nothing, resting
        # Most parts rest in most ticks: for these, nothing is limited and nothing is counted.
        if self._budget is None:
            return self._stepped(part, operator, batches, marks)
        with self._budget.part(part.number, part.progress.operator):
            return self._stepped(part, operator, batches, marks)

    def _stepped(
        self, part: _Part, operator: Operator, batches: list[pl.DataFrame], marks: list[int]
    ) -> Arrival:
        look()
        progress = part.progress
        began = perf_counter()
        progress.count_in(batches, joins=isinstance(part.node, JoinExec | LookupExec))
        try:
            result = operator.step(batches, marks)
            look(result[0].height)
        except ExecutionError as error:
            message = f"{error.message} (in {progress.operator})"
            raise ExecutionError(message, help=error.help) from error
        progress.count_state(operator.state_rows, operator.state_bytes)
        progress.measures = operator.measures
        progress.seconds += perf_counter() - began
        return result

    @property
    def given(self) -> Given:
        """How much every part has given, and until when."""
        known = ((number, part.progress) for number, part in enumerate(self._ordered))
        return {n: (p.rows_out, p.latest_start, p.latest_end) for n, p in known if p.rows_out}

    def note_given(self, given: Given) -> None:
        """Parts have given this so far, not only what they gave again."""
        for number, (rows, start, end) in given.items():
            progress = self._ordered[number].progress
            progress.rows_out, progress.latest_start, progress.latest_end = rows, start, end

    @property
    def state(self) -> Any:
        """All that the operators remember, as something that can be stored."""
        return [(part.operator, part.progress) for part in self._ordered]

    @state.setter
    def state(self, state: Any) -> None:
        for part, (operator, progress) in zip(self._ordered, state, strict=True):
            part.operator, part.progress = operator, progress


_NOTHING: Arrival = pl.DataFrame(), BEGIN

Given = Mapping[int, tuple[int, int, int]]
"""By the numbers of parts, the rows that they gave, and their latest start and end."""

_Runner = Callable[[_Part, Operator, list[Arrival]], Arrival]


def places_of(carried: Mapping[Exec, Exec]) -> dict[Exec, Exec | None]:
    """In whose place parts go on, if not in their own: those whose operators go on elsewhere
    begin anew, where a query needs them again before the next tick."""
    return {**dict.fromkeys(carried.values()), **carried}


def copied(node: Exec, operator: Operator, partition: int) -> Operator:
    """An operator for a node that begins with what another one remembers."""
    copy = node.operator()
    copy.start(partition)
    copy.share([operator], [[_all_rows] * len(node.children)])
    return copy


def _all_rows(rows: pl.DataFrame) -> Bools:
    return np.ones(rows.height, dtype=np.bool_)


def _dealt(order: Sequence[_Part]) -> dict[int, dict[int, _Part]]:
    """By the part below them, those that give the rows of one query of a shape each, and are read
    by no others."""
    read = {below.number for part in order for below in part.inputs}
    found: dict[int, dict[int, _Part]] = {}
    for part in order:
        if isinstance(part.node, PickExec) and part.number not in read:
            (below,) = part.inputs
            picks = found.setdefault(below.number, {})
            if picks.setdefault(part.node.number, part) is not part:
                return {}  # queries that are told apart in another way
    return found


def _number(part: _Part, order: list[_Part]) -> None:
    """Give the part a place after its inputs."""
    if part.number < 0:
        for below in part.inputs:
            _number(below, order)
        part.number = len(order)
        order.append(part)
