"""Numbers that sort as values do, for values of any type and however many come later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools, Ints, starts_of_runs
from tidemill.physical.mechanisms.keys import KeyTable

_VALUE, _LABEL = "value", "label"
_STEP = 1 << 32  # between neighbours, so that others find room there
_LOW, _HIGH = -(1 << 62), 1 << 62


class _Run(NamedTuple):
    """Values in order, and their labels between two that no value has."""

    values: pl.Series
    labels: Ints


class Labels:
    """A label for every value that was seen; the smaller value has the smaller label.

    Where there is no room for a new value, all values get other labels.

    >>> labels = Labels(pl.String())
    >>> b, d = labels.of(pl.Series(["b", "d"])).tolist()
    >>> (c,) = labels.of(pl.Series(["c"])).tolist()
    >>> b < c < d
    True
    """

    STATE = ("_table", "_runs", "renewals")

    def __init__(self, dtype: pl.DataType) -> None:
        self._table = KeyTable(pl.DataFrame(schema={_VALUE: dtype}), [_VALUE])
        self._runs: list[_Run] = []  # of falling size, as in a row store
        self.renewals = 0

    def of(self, column: pl.Series) -> Ints:
        """The label of every value; what is NULL has none, but a zero."""
        labels = np.zeros(len(column), np.int64)
        present = column.is_not_null().to_numpy()
        known = len(self._table.live)
        slots = self._table.find_or_add(column.drop_nulls().alias(_VALUE).to_frame())
        if len(self._table.live) > known:
            self._add(np.arange(known, len(self._table.live)))
        labels[present] = self._table.column(_LABEL)[slots]
        return labels

    def _add(self, slots: Ints) -> None:
        # Searching does not know all types that sorting knows, but all that they are stored as.
        values = self._table.rows(slots)[_VALUE].to_physical()
        order = values.arg_sort().to_numpy()
        values = values[order]
        labels, steps = self._between(values)
        if not steps.all():
            self._renew()
            labels, _ = self._between(values)
        self._table.column(_LABEL)[slots[order]] = labels
        self._runs.append(_Run(values, np.concatenate([[_LOW], labels, [_HIGH]])))
        while len(self._runs) > 1 and len(self._runs[-1].labels) * 4 >= len(self._runs[-2].labels):
            self._runs[-2:] = [_merged(self._runs[-2:])]

    def _between(self, values: pl.Series) -> tuple[Ints, Ints]:
        """Labels for new values, in order, and the steps from one to the next: 0 if too small."""
        low, high = np.full(len(values), _LOW), np.full(len(values), _HIGH)
        for run in self._runs:
            at = run.values.search_sorted(values).to_numpy()
            low = np.maximum(low, run.labels[at])
            high = np.minimum(high, run.labels[at + 1])
        place, count = _places(starts_of_runs(low))
        steps = (high - low) // (count + 1)
        is_open = (low == _LOW) | (high == _HIGH)
        steps = np.where(is_open, np.minimum(steps, _STEP), steps)
        upwards = low + place * steps
        downwards = high - (count + 1 - place) * steps
        labels = np.where(low == _LOW, downwards, upwards)
        return labels if self._runs else place * _STEP, steps

    def _renew(self) -> None:
        """Give all values labels with room between them."""
        run = _merged(self._runs)
        before = run.labels[1:-1]
        labels = self._table.column(_LABEL)
        known = np.flatnonzero(self._table.live)
        labels[known] = np.searchsorted(before, labels[known]) * _STEP
        spread = np.arange(len(before)) * _STEP
        self._runs = [_Run(run.values, np.concatenate([[_LOW], spread, [_HIGH]]))]
        self.renewals += 1

    @property
    def nbytes(self) -> int:
        runs = sum(run.values.estimated_size() + run.labels.nbytes for run in self._runs)
        return self._table.nbytes + int(runs)


def _places(first: Bools) -> tuple[Ints, Ints]:
    """The place in its run, from 1, and the length of the run, given where runs start.

    >>> _places(np.array([True, False, True]))
    (array([1, 2, 1]), array([2, 2, 1]))
    """
    starts = np.flatnonzero(first)
    run = np.cumsum(first) - 1
    return np.arange(1, len(first) + 1) - starts[run], np.diff([*starts, len(first)])[run]


def _merged(runs: list[_Run]) -> _Run:
    labels = np.concatenate([run.labels[1:-1] for run in runs])
    order = np.argsort(labels, kind="stable")
    values = pl.concat([run.values for run in runs])[order]
    return _Run(values, np.concatenate([[_LOW], labels[order], [_HIGH]]))
