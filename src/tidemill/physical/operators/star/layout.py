"""What the compiled part of a star join works on: rows, keys and versions as numbers.

A key has a number in all: 2 × (streams × its number in its stream + the stream). Its shadow, the
number behind it, stands for the same key among rows that were shed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidemill.algebra import Policy
from tidemill.physical.mechanisms.arrays import Array

NONE = -1

# A row that is kept, arrives, or was shed and is followed as a shadow.
ROW = np.dtype(
    [
        ("priority", np.float64),
        ("importance", np.float64),
        ("matches", np.int64),  # results with what the other streams have
        ("arrival", np.int64),
        ("lot", np.uint64),  # drawn from its content; puts in order what is equal else
        ("end", np.int64),
        ("touched", np.int64),  # the last instant at which rows arrived that it matches
        ("place", np.int64),  # where its columns are
        ("weight", np.float64),  # of a shadow: for how many rows it stands
        ("key", np.int32),
        ("stream", np.int32),
        ("open", np.int32),  # versions that it met and that have not ended
        ("heap", np.int32),
        ("at", np.int32),  # in the heap
        ("newer", np.int32),  # with the same key
        ("older", np.int32),
        ("sooner", np.int32),  # by end
        ("later", np.int32),
    ],
    align=True,
)

# A row as it comes.
ARRIVAL = np.dtype(
    [
        ("importance", np.float64),
        ("arrival", np.int64),
        ("lot", np.uint64),
        ("end", np.int64),
        ("place", np.int64),
        ("key", np.int32),
        ("stream", np.int32),
    ],
    align=True,
)

# The rows of a key, the last arrival first, and where its list of versions begins.
KEY = np.dtype(
    [("newest", np.int32), ("oldest", np.int32), ("rows", np.int32), ("edge", np.int32)], align=True
)

VERSION = np.dtype([("begin", np.int64), ("end", np.int64)], align=True)

# The rows of a stream by end.
STREAM = np.dtype([("soonest", np.int32), ("last", np.int32)], align=True)

# All else that is remembered: once.
MEMORY = np.dtype(
    [
        ("origin", np.int64),  # the first instant at which rows arrived
        ("free", np.int64),  # how many numbers of rows are free
        ("now", np.int64),
        ("arrived", np.int64),  # how many rows of a sweep were looked at
        ("opened", np.int64),  # and how many versions
        ("ended", np.int64),
        ("new", np.int64),  # how many rows have arrived now and passed
        ("needed", np.int64),  # for how many results there must be room before it goes on
        ("touched", np.int64),  # how many rows are noted as touched
        ("shadows", np.int64),  # how many shed rows are followed
        ("most", np.int64),  # how many rows were kept at most
        ("shed", np.int64),
        ("filtered", np.int64),
        ("sampled", np.float64),  # the part of all shed rows that are followed
        ("results_lost", np.float64),
        ("importance_lost", np.float64),
    ],
    align=True,
)

POLICIES = {policy: number for number, policy in enumerate(Policy)}
SIMP, SIMPPROB, DIMPPROB, DGL, SEMANTIC, RANDOM = POLICIES.values()


NOTES = 4
TOUCHED, NEW, GOING, SHADOWS = range(NOTES)


class ShedRule(NamedTuple):
    """What the compiled part must know of the node."""

    streams: int
    policy: int
    share: int  # rows that a stream may keep
    shadows: int  # how many shed rows are followed at most
    alpha: float
    beta: float
    changing: bool


class StarState(NamedTuple):
    """All arrays of a running star join; the compiled part changes them in place."""

    rule: ShedRule
    rows: Array
    free: npt.NDArray[np.int32]  # numbers of rows that are not in use
    streams: Array
    heaps: npt.NDArray[np.int32]  # two of each stream: numbers of rows
    sizes: npt.NDArray[np.int64]  # of the heaps
    keys: Array
    edges: npt.NDArray[np.int32]  # next of the same key, version, keys of the other streams
    versions: Array
    version_keys: npt.NDArray[np.int32]
    memory: Array
    noted: npt.NDArray[np.int32]  # rows that are touched, arrive or go at an instant; shadows
    cursors: npt.NDArray[np.int64]


def blank(rule: ShedRule) -> StarState:
    """A state without rows, keys and versions, and without room for any."""
    n = rule.streams
    streams = np.full(n, NONE, STREAM)
    memory = np.zeros(1, MEMORY)
    memory["origin"] = NONE
    memory["sampled"] = 1.0
    return StarState(
        rule=rule,
        rows=np.zeros(0, ROW),
        free=np.zeros(0, np.int32),
        streams=streams,
        heaps=np.zeros((2 * n, 0), np.int32),
        sizes=np.zeros(2 * n, np.int64),
        keys=no_keys(0),
        edges=np.zeros((0, n + 1), np.int32),
        versions=np.zeros(0, VERSION),
        version_keys=np.zeros((0, n), np.int32),
        memory=memory,
        noted=np.zeros((NOTES, 0), np.int32),
        cursors=np.zeros((2, n), np.int64),
    )


def no_keys(number: int) -> Array:
    """Keys that no row and no version has."""
    keys = np.zeros(number, KEY)
    keys["newest"] = keys["oldest"] = keys["edge"] = NONE
    return keys
