"""How slices are distributed to tasks: each gets about as many bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from tidemill.connectors.feeds.opening import confined
from tidemill.connectors.feeds.parts import Part, parts_of
from tidemill.connectors.feeds.slices import (
    FileSlice,
    OffsetRange,
    Slice,
    TableSlice,
    TopicSlice,
    size_of,
)

Piece = tuple[int, int, Slice]
"""The number of its slice, the number of its first part or row, and the piece itself."""

Parted = tuple[int, FileSlice, list[Part]]
"""The number of a slice, and the parts into which it can be cut."""


def split(slices: Sequence[Slice], ways: int) -> list[list[Slice]]:
    """Deal slices out to tasks, each about as many bytes; some may get nothing.

    Files that are more than the share of a task are cut between their row groups or batches. The
    same slices are always distributed in the same way, and each task gets its own in their order.

    >>> files = [FileSlice("csv", f"{size}.csv", nbytes=size) for size in (10, 90, 30, 40)]
    >>> [[slice.path for slice in task] for task in split(files, 2)]
    [['90.csv'], ['10.csv', '30.csv', '40.csv']]
    """
    return [[piece for _, piece in task] for task in split_numbered(slices, ways)]


def split_numbered(slices: Sequence[Slice], ways: int) -> list[list[tuple[int, Slice]]]:
    """The same, with the number of the slice of each piece."""
    share = -(-sum(map(size_of, slices)) // ways)
    whole: list[Piece] = []
    parted: list[Parted] = []
    for number, slice in enumerate(slices):
        if ways == 1 or size_of(slice) <= share:
            whole.append((number, 0, slice))
        elif isinstance(slice, TableSlice):
            whole += _by_rows(number, slice, ways)
        elif isinstance(slice, TopicSlice):
            whole += _by_offsets(number, slice, ways)
        elif len(parts := _parts(slice)) > 1:
            parted.append((number, slice, parts))
        else:
            whole.append((number, 0, slice))
    tasks = _repartition(whole, ways)
    _fill(tasks, parted)
    ordered = (sorted(task, key=lambda piece: piece[:2]) for task in tasks)
    return [[(number, piece) for number, _, piece in task] for task in ordered]


def _by_rows(number: int, slice: TableSlice, ways: int) -> list[Piece]:
    rows = slice.table.num_rows
    length = max(1, -(-rows // ways))
    starts = range(0, rows, length)
    return [(number, at, TableSlice(slice.table.slice(at, length))) for at in starts]


def _by_offsets(number: int, slice: TopicSlice, ways: int) -> list[Piece]:
    """Pieces of as many messages, whatever the partitions that have them."""
    length = max(1, -(-slice.rows // ways))
    pieces: list[Piece] = []
    for partition, start, end in slice.ranges:
        for at in range(start, end, length):
            part = OffsetRange(partition, at, min(at + length, end))
            pieces.append((number, len(pieces), replace(slice, ranges=(part,))))
    return pieces


def _repartition(pieces: Sequence[Piece], ways: int) -> list[list[Piece]]:
    """The largest first, each to the task that has the least."""
    tasks: list[list[Piece]] = [[] for _ in range(ways)]
    loads = [0] * ways
    for piece in sorted(pieces, key=lambda piece: -size_of(piece[2])):
        task = min(range(ways), key=lambda task: (loads[task], len(tasks[task]), task))
        tasks[task].append(piece)
        loads[task] += size_of(piece[2])
    return tasks


def _fill(tasks: list[list[Piece]], parted: Sequence[Parted]) -> None:
    """Fill tasks up with the parts of files, one task after the other: so neighbours stay so."""
    loads = [sum(size_of(piece) for *_, piece in task) for task in tasks]
    rest = sum(size for *_, parts in parted for _, size in parts)
    share = (sum(loads) + rest) / len(tasks)
    ends = list(accumulate(max(0.0, share - load) for load in loads))
    task, filled = 0, 0.0
    for number, slice, parts in parted:
        for place, part in enumerate(parts):
            # A part belongs to the task in whose room its middle is.
            while task + 1 < len(tasks) and filled + part[1] / 2 > ends[task]:
                task += 1
            filled += part[1]
            _add(tasks[task], number, (slice.first or 0) + place, slice, part)


def _add(task: list[Piece], number: int, place: int, slice: FileSlice, part: Part) -> None:
    """Add a part of a file to a task; one that follows another is read with it."""
    rows, nbytes = part
    if task:
        (at, first, last) = task[-1]
        if at == number and isinstance(last, FileSlice) and last.last == place - 1:
            rows, nbytes = (last.rows or 0) + rows, size_of(last) + nbytes
            task[-1] = (at, first, replace(last, last=place, rows=rows, nbytes=nbytes))
            return
    piece = replace(slice, first=place, last=place, rows=rows, nbytes=nbytes)
    task.append((number, place, piece))


def _parts(slice: FileSlice) -> list[Part]:
    with confined(slice.within):
        return parts_of(slice.format, slice.path, slice.first, slice.last)
