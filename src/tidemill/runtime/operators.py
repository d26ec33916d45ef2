"""Running operators: one for every different part of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from time import perf_counter
from typing import Any, TypeVar

import polars as pl

from tidemill.deadline import UNLIMITED, TickLimits, look
from tidemill.errors import ExecutionError
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec
from tidemill.physical.once import ONCE
from tidemill.physical.operator import Exec, Operator, empty_batch, ends, starts
from tidemill.runtime.budget import Budget
from tidemill.runtime.progress import OperatorProgress
from tidemill.timeline import BEGIN, OPEN_END

_SAMPLE = 1024

Arrival = tuple[pl.DataFrame, int]
"""New rows and the watermark behind which no more will start."""


@dataclass
class NodeProgress:
    """What an operator has done so far, and what it remembers: now, and at most after a tick.

    Of joins also: for how long the rows of each input held, together, and when they started. The
    `watermark` is that of what it gives; the latest of the rows that it gave start at
    `latest_start` and end before `latest_end`; time has `reached` an instant in what it reads, of
    which it may wait to tell.
    """

    label: str
    rows_out: int = 0
    state_rows: int = 0
    state_bytes: int = 0
    rows_in: Sequence[int] = ()
    held: Sequence[float] = ()
    first: int = OPEN_END
    last: int = BEGIN
    most_rows: int = 0
    most_bytes: int = 0
    measures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    watermark: int = BEGIN
    latest_start: int = BEGIN
    latest_end: int = BEGIN
    reached: int = BEGIN

    def keeps(self, rows: int, nbytes: int) -> None:
        """Take note of what the operator remembers now."""
        self.state_rows, self.state_bytes = rows, nbytes
        self.most_rows, self.most_bytes = max(rows, self.most_rows), max(nbytes, self.most_bytes)

    def took(self, inputs: Sequence[pl.DataFrame], joins: bool) -> None:
        """Take note of new rows."""
        self.rows_in = _added(self.rows_in, [rows.height for rows in inputs])
        if joins:
            lives = [ONCE.get((rows,), "lives", partial(_lives, rows)) for rows in inputs]
            self.held = _added(self.held, [held for held, _, _ in lives])
            self.first = min(self.first, *(first for _, first, _ in lives))
            self.last = max(self.last, *(last for _, _, last in lives))

    def gave(self, rows: pl.DataFrame, watermark: int) -> None:
        """Take note of what the operator gives."""
        self.watermark = watermark
        if rows.height:
            self.rows_out += rows.height
            self.latest_start = max(self.latest_start, int(starts(rows).max()))
            self.latest_end = max(self.latest_end, int(ends(rows).max()))

    def copy(self) -> NodeProgress:
        """The same, to go on with."""
        return replace(self)

    def merge(self, other: NodeProgress) -> None:
        """Take what the same operator has done in another partition into account."""
        self.rows_out += other.rows_out
        self.state_rows += other.state_rows
        self.state_bytes += other.state_bytes
        self.most_rows += other.most_rows
        self.most_bytes += other.most_bytes
        self.rows_in = _added(self.rows_in, other.rows_in)
        self.held = _added(self.held, other.held)
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)
        self.seconds += other.seconds
        self.watermark = min(self.watermark, other.watermark)
        self.latest_start = max(self.latest_start, other.latest_start)
        self.latest_end = max(self.latest_end, other.latest_end)
        self.reached = min(self.reached, other.reached)
        names = {**self.measures, **other.measures}
        self.measures = {
            name: self.measures.get(name, 0.0) + other.measures.get(name, 0.0) for name in names
        }

    def summary(self) -> OperatorProgress:
        """What users get to see of it."""
        return OperatorProgress(
            self.label,
            self.rows_out,
            self.state_rows,
            self.state_bytes,
            sum(self.rows_in),
            self.most_rows,
            self.most_bytes,
            self.measures,
        )


_Number = TypeVar("_Number", int, float)


def _added(left: Sequence[_Number], right: Sequence[_Number]) -> Sequence[_Number]:
    if not left or not right:
        return list(left or right)  # an operator that had nothing to do counted nothing
    return [a + b for a, b in zip(left, right, strict=True)]


def _lives(rows: pl.DataFrame) -> tuple[float, int, int]:
    """How long rows hold, together, and when the first and the last start.

    For how long, those that are looked at stand for all.
    """
    if not rows.height:
        return 0.0, OPEN_END, BEGIN
    some, times = rows.head(_SAMPLE), starts(rows)
    held = float((ends(some) - starts(some)).mean()) * rows.height
    return held, int(times.min()), int(times.max())


@dataclass
class _Part:
    """A part of the plans that runs: its operator, its inputs, and an empty result.

    `users` are the parts and roots that read it; `number` is its place in the order of all.
    """

    node: Exec
    operator: Operator | None
    progress: NodeProgress
    inputs: list[_Part]
    nothing: pl.DataFrame
    users: int = 0
    number: int = -1


class Running(Mapping[Exec, NodeProgress]):
    """What every part of a graph has done, as it stands whenever one looks."""

    def __init__(self, parts: Mapping[Exec, _Part]) -> None:
        self._parts = parts

    def __getitem__(self, node: Exec) -> NodeProgress:
        return self._parts[node].progress

    def __iter__(self) -> Iterator[Exec]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


class Graph:
    """The operators of some plans. Equal parts are one operator, however often they occur.

    The plans may be replaced by others between two ticks: `revise`.
    """

    def __init__(self, *roots: Exec, partition: int = 0) -> None:
        self._partition = partition
        self._parts: dict[Exec, _Part] = {}
        self._roots: list[_Part] = []
        self._order: list[_Part] | None = None
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
    def progress(self) -> list[NodeProgress]:
        """What the parts have done, in their order."""
        return [part.progress for part in self._ordered]

    def count_anew(self) -> None:
        """Forget what the parts have done: from now on they count the next tick."""
        for part in self._ordered:
            part.progress = NodeProgress(part.node.label)

    @property
    def running(self) -> Mapping[Exec, NodeProgress]:
        """What the parts have done, by part, in no order."""
        return Running(self._parts)

    @property
    def _ordered(self) -> list[_Part]:
        """All parts in the order of `nodes_of`, which does not depend on what was here before."""
        if self._order is None:
            for part in self._parts.values():
                part.number = -1
            self._order = []
            for root in self._roots:
                _number(root, self._order)
        return self._order

    def revise(self, roots: Sequence[Exec], carried: Mapping[Exec, Exec] | None = None) -> None:
        """Go on with other plans: equal parts, and those `carried`, keep what they remember.

        `carried` names the old part whose place a new one takes. Other new parts begin empty;
        what is not needed any more is forgotten. Without `carried`, only parts that come or go
        cost time.
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
            part = made[node] = self._part(node, old, inputs)
        return part

    def _part(self, node: Exec, old: _Part | None, inputs: list[_Part]) -> _Part:
        if old is not None:
            progress = replace(old.progress, label=node.label)
            if old.operator is not None:
                old.operator.take_over(node)
            return _Part(node, old.operator, progress, inputs, old.nothing)
        operator = node.operator() if node.children else None
        if operator is not None:
            operator.start(self._partition)
        return _Part(node, operator, NodeProgress(node.label), inputs, empty_batch(node.schema))

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
        results: list[Arrival] = []
        leaves = iter(arrivals)
        for part in self._ordered:
            if part.operator is None:
                result = next(leaves)
            else:
                result = run(part, part.operator, [results[each.number] for each in part.inputs])
            part.progress.gave(*result)
            results.append(result)
        ONCE.forget()
        return results

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
        if not any(rows.height for rows in batches):
            resting = operator.rest(marks)
            if resting is not None:
                return part.nothing, resting
        # Most parts rest in most ticks: for these, nothing is limited and nothing is counted.
        if self._budget is None:
            return self._stepped(part, operator, batches, marks)
        with self._budget.part(part.number, part.progress.label):
            return self._stepped(part, operator, batches, marks)

    def _stepped(
        self, part: _Part, operator: Operator, batches: list[pl.DataFrame], marks: list[int]
    ) -> Arrival:
        look()
        progress = part.progress
        began = perf_counter()
        progress.took(batches, joins=isinstance(part.node, JoinExec | LookupExec))
        try:
            result = operator.step(batches, marks)
            look(result[0].height)
        except ExecutionError as error:
            message = f"{error.message} (in {progress.label})"
            raise ExecutionError(message, help=error.help) from error
        progress.keeps(operator.state_rows, operator.state_bytes)
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


Given = Mapping[int, tuple[int, int, int]]
"""By the numbers of parts, the rows that they gave, and their latest start and end."""

_Runner = Callable[[_Part, Operator, list[Arrival]], Arrival]


def places_of(carried: Mapping[Exec, Exec]) -> dict[Exec, Exec | None]:
    """In whose place parts go on, if not in their own: those whose operators go on elsewhere
    begin anew, where a query needs them again before the next tick."""
    return {**dict.fromkeys(carried.values()), **carried}


def _number(part: _Part, order: list[_Part]) -> None:
    """Give the part a place behind its inputs."""
    if part.number < 0:
        for below in part.inputs:
            _number(below, order)
        part.number = len(order)
        order.append(part)
