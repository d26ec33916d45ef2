"""The running star join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.keys import canonical
from tidemill.physical.mechanisms.pairs import Condition
from tidemill.physical.operator import Sweep, ends, payload, starts, with_validity
from tidemill.physical.operators.star.components import divided, shares
from tidemill.physical.operators.star.layout import ARRIVAL, NONE, POLICIES, ShedRule
from tidemill.physical.operators.star.versions import Versions
from tidemill.physical.operators.star.windows import Windows
from tidemill.timeline import OPEN_END

if TYPE_CHECKING:
    from tidemill.physical.operators.star.node import StarJoinExec

_FEWEST_SHADOWS = 256
_SHADOWS = 8  # one shadow per this number of rows that may be kept
_ROOM = 1 << 16


class StarJoinOperator(Sweep):
    """Rows of all streams in the order of time; the compiled part decides which of them stay.

    Rows of a relation that changes do not hold the streams back: changes come in time.
    """

    STATE = ("_versions", "_windows", "_partition", "_facts", "_found", "_given", "_importance")

    def __init__(self, node: StarJoinExec) -> None:
        schemas = [stream.schema for stream in node.streams]
        super().__init__(*schemas)
        self._node = node
        self._versions = Versions(node.relation.schema, node.relation_keys, node.version)
        self._windows = Windows(schemas, _rule(node))
        self._partition = 0
        self._facts: list[pl.DataFrame] = []  # of a relation that is to be divided
        self._found = self._given = 0
        self._importance = 0.0
        self._conditions = [
            Condition(part, node.schema, node.functions) for part in node.conditions
        ]

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        *streams, relation = inputs
        *marks, known = watermarks
        self._versions.take(self._own(relation, known), self._swept)
        return super().step(streams, marks if self._versions.is_changing else [*marks, known])

    def start(self, partition: int) -> None:
        self._partition = partition

    def _own(self, facts: pl.DataFrame, known: int) -> pl.DataFrame:
        """The rows of the relation for this partition; its share of the memory follows them."""
        node = self._node
        if node.partitions == 1:
            return facts
        self._facts.append(facts)
        # The relation can be divided only as a whole: a later row might connect what seems apart.
        if known < OPEN_END:
            return facts.clear()
        whole, self._facts = pl.concat(self._facts), []
        if whole.height == 0:
            return whole
        whole = whole.drop_nulls({name for columns in node.relation_keys for name in columns})
        parts, loads = divided(whole, node.relation_keys, node.partitions)
        share = int(shares(loads, self._windows.state.rule.share)[self._partition])
        self._windows.share(share)
        return whole.filter(parts == self._partition)

    def rest(self, watermarks: Sequence[int]) -> int | None:
        # What it hears of other partitions changes what it keeps, though no rows come.
        return None

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        arrivals = np.concatenate([self._arrivals(*part) for part in enumerate(slices)])
        arrivals = arrivals[np.argsort(arrivals["arrival"], kind="stable")]
        found = self._run(arrivals, until)
        result = self._checked(self._results(found))
        self._tidy(until)
        return result

    def _arrivals(self, stream: int, batch: pl.DataFrame) -> Array:
        """The rows that match any version, with what decides about them."""
        node = self._node
        keys = self._versions.find(stream, batch, node.stream_keys[stream])
        known = np.flatnonzero(keys != NONE)
        # The rows were sent here because a version with their keys is here: each task finds the
        # partitions by itself, and must find the same.
        if node.partitions > 1 and len(known) < batch.height:
            raise ExecutionError(
                "rows of a star join came to a partition that knows nothing of them",
                help="all workers must run the same versions of Polars and Tidemill",
            )
        self._windows.state.memory["filtered"] += batch.height - len(known)
        if len(known) < batch.height:
            batch, keys = batch[known], keys[known]
        rows = np.empty(batch.height, ARRIVAL)
        rows["arrival"], rows["end"] = starts(batch), ends(batch)
        rows["importance"] = importance_of(batch, node.shedding.importances[stream])
        rows["lot"] = lots_of(batch, node.shedding.seed)
        rows["key"], rows["stream"] = keys, stream
        rows["place"] = self._windows.arrive(stream, payload(batch))
        return rows

    def _run(self, arrivals: Array, until: int) -> Ints:
        # Not before it is needed: it takes half a second even where it was compiled before.
        from tidemill.physical.operators.star.kernel.sweep import sweep

        windows, versions = self._windows, self._versions
        opening, ending = versions.opening(until), versions.ending(until)
        windows.make_room(len(arrivals), _most_at_once(arrivals["arrival"]))
        state = windows.state._replace(
            keys=versions.keys,
            edges=versions.edges,
            versions=versions.versions,
            version_keys=versions.version_keys,
        )
        memory, pieces = state.memory, []
        while True:
            room = max(_ROOM, int(memory["needed"][0]))
            found = np.empty((room, state.rule.streams + 3), np.int64)
            used = sweep(state, arrivals, opening, ending, until, found)
            pieces.append(found[:used])
            if memory["needed"][0] == 0:
                return np.concatenate(pieces)

    def _results(self, found: Ints) -> pl.DataFrame:
        *places, versions, start, end = np.ascontiguousarray(found.T)
        parts = [self._windows.columns(stream, at) for stream, at in enumerate(places)]
        rows = pl.concat([*parts, self._versions.rows(versions)], how="horizontal")
        return with_validity(rows, start, end)

    def _checked(self, rows: pl.DataFrame) -> pl.DataFrame:
        self._found += rows.height
        for condition in self._conditions:
            rows = rows.filter(condition.holds(rows)) if rows.height else rows
        self._given += rows.height
        parts = [importance_of(rows, column) for column in self._node.shedding.importances]
        self._importance += float(np.minimum.reduce(parts).sum())
        return rows

    def _tidy(self, until: int) -> None:
        windows, versions = self._windows, self._versions
        windows.tidy(versions.keys)
        if versions.is_changing:
            arrivals = windows.state.rows["arrival"][windows.kept]
            moved = versions.forget(int(arrivals.min(initial=until)), until)
            if moved is not None:
                windows.follow(moved)

    @property
    def measures(self) -> dict[str, float]:
        memory = self._windows.state.memory[0]
        passed = self._given / self._found if self._found else 1.0
        return {
            "rows_shed": float(memory["shed"]),
            "rows_filtered": float(memory["filtered"]),
            "most_rows_kept": float(memory["most"]),
            "results_given": float(self._given),
            "importance_given": self._importance,
            "results_lost_estimate": float(memory["results_lost"]) * passed,
            "importance_lost_estimate": float(memory["importance_lost"]) * passed,
        }

    @property
    def state_rows(self) -> int:
        kept = int(np.count_nonzero(self._windows.kept))
        return kept + self.waiting_rows + len(self._versions)

    @property
    def state_bytes(self) -> int:
        return self._windows.nbytes + self._versions.nbytes + self.waiting_bytes


def _rule(node: StarJoinExec) -> ShedRule:
    shedding, streams = node.shedding, len(node.streams)
    return ShedRule(
        streams=streams,
        policy=POLICIES[shedding.policy],
        share=shedding.rows // streams,
        shadows=max(_FEWEST_SHADOWS, shedding.rows // _SHADOWS),
        alpha=float(shedding.alpha),
        beta=float(shedding.beta),
        changing=node.version is not None,
    )


def importance_of(batch: pl.DataFrame, column: str | None) -> Array:
    """The importance of rows; what is no number has none."""
    if column is None:
        return np.ones(batch.height)
    values: Array = batch[column].cast(pl.Float64).fill_null(0.0).to_numpy()
    return np.nan_to_num(values)


def lots_of(batch: pl.DataFrame, seed: int) -> Array:
    """A number for every row that its content and validity decide."""
    lots: Array = canonical(batch).hash_rows(seed=seed).to_numpy()
    return lots


def _most_at_once(arrivals: Ints) -> int:
    """How many of the sorted instants are equal, at most."""
    if len(arrivals) == 0:
        return 0
    changes = np.flatnonzero(arrivals[1:] != arrivals[:-1])
    return int(np.diff(changes, prepend=-1, append=len(arrivals) - 1).max())
