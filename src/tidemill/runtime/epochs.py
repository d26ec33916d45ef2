"""Epochs: which plans are in force since which tick.

They are written down before the first tick that goes by them. A tick that is done again goes by
the epoch that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.runtime import codec
from tidemill.runtime.interface import Root
from tidemill.stages.counterparts import counterparts
from tidemill.stages.repartitioning import Repartitioned
from tidemill.stages.staging import Staging
from tidemill.store import Numbered, Store


@dataclass(frozen=True)
class Epoch:
    """What is in force since a tick, and what was before it.

    `tags` are those of the results of queries. `carried` names the operators of stages whose place
    new ones take, `inputs` what was in the place of new exchanges, by tag. The same is known of the
    `parts` of plans: whoever revises the graph again before the tick has to know it, perhaps after
    a crash. The notes are those of whoever revised the graph. If it `repartitions`, what operators
    remembered before moves to the partitions where it belongs now.
    """

    tick: int = 0
    roots: Mapping[str, Root] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
    staging: Staging = field(default_factory=Staging)
    before: Staging = field(default_factory=Staging)
    carried: Mapping[Exec, Exec] = field(default_factory=dict)
    inputs: Mapping[int, Exec] = field(default_factory=dict)
    notes: Any = None
    repartitions: bool = False
    parts: Mapping[Exec, Exec] = field(default_factory=dict)

    @property
    def plans(self) -> list[Exec]:
        """The plans of all queries, as they run."""
        return [root.running for root in self.roots.values()]

    def in_partitions(self, tick: int, base: Staging, new: Repartitioned) -> Epoch:
        """The same queries from a tick on, in other partitions."""
        tags = dict(zip(self.roots, new.staging.staged.results, strict=True))
        return replace(
            self,
            tick=tick,
            tags=tags,
            staging=new.staging,
            before=base,
            carried=new.carried,
            inputs={},
            repartitions=True,
            parts={},
        )

    def runs(self, roots: Mapping[str, Root]) -> bool:
        """Whether these are its queries, wherever their results go."""
        return {n: _meaning(r) for n, r in self.roots.items()} == {
            n: _meaning(r) for n, r in roots.items()
        }


def next_epoch(
    tick: int,
    base: Staging,
    roots: Mapping[str, Root],
    carried: Mapping[Exec, Exec],
    notes: Any = None,
    statistics: Statistics | None = None,
) -> Epoch:
    """The epoch in which these queries run; `base` is what ran in the tick before it."""
    plans = {name: root.running for name, root in roots.items()}
    staging = base.then(list(plans.values()), carried, statistics)
    parts = counterparts(staging, base, carried)
    tags = dict(zip(plans, staging.staged.results, strict=True))
    kept = {name: root.kept for name, root in roots.items()}
    return Epoch(
        tick, kept, tags, staging, base, parts.operators, parts.inputs, notes, parts=carried
    )


def _meaning(root: Root) -> tuple[object, ...]:
    return root.running, root.since


class EpochLog:
    """The epochs of a run: the last one in memory, and with a store all that may be needed.

    The functions of users are those that are `known`.
    """

    def __init__(self, store: Store | None, known: codec.KnownFunctions | None = None) -> None:
        self._store = store
        self._known = known
        self._files = (
            None
            if store is None
            else Numbered(store, "epochs", ".epoch", sparse=True, keep_last=True)
        )
        self._written: dict[int, Epoch] = {}

    def write(self, epoch: Epoch) -> None:
        """Keep an epoch. Those that were to begin at the same tick or later are void."""
        self._written = {tick: old for tick, old in self._written.items() if tick < epoch.tick}
        if self._files is not None:
            self._files.remove_from(epoch.tick + 1)
            self._files.put(epoch.tick, *codec.dump(epoch))
        self._written[epoch.tick] = epoch

    def at(self, tick: int | None = None) -> Epoch | None:
        """The epoch that a tick goes by, or the last one, if there is one yet."""
        begun = [each for each in self._ticks() if tick is None or each <= tick]
        return self._read(begun[-1]) if begun else None

    def forget_before(self, tick: int) -> None:
        """Delete epochs that ended before a tick."""
        last = max((each for each in self._ticks() if each <= tick), default=0)
        self._written = {each: old for each, old in self._written.items() if each >= last}
        if self._files is not None:
            self._files.remove_before(last)

    def _read(self, tick: int) -> Epoch:
        if tick not in self._written:
            assert self._files is not None
            assert self._store is not None
            epoch: Epoch = codec.read(self._store, self._files.file(tick), self._known)
            self._written[tick] = epoch
        return self._written[tick]

    def _ticks(self) -> list[int]:
        return sorted(self._written) if self._files is None else self._files.numbers
