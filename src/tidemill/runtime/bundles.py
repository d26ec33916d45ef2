"""What a task sends to many partitions, in one file for all of them.

A parcel for each would be partitions times partitions of them in a tick, all through the driver.
So the driver sees one name of every task, and whoever reads a bundle takes its own part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from uuid import uuid4

import numpy as np
import polars as pl

from tidemill.runtime.parcels import (
    EVERY,
    Packed,
    Packer,
    Parcel,
    from_bytes,
    scratch,
    to_bytes,
)
from tidemill.store import Store

MANY = 64
"""With more partitions, tasks make bundles; for fewer, what they send to each is carried along."""

_ENTRY = np.dtype([("offset", "<i8"), ("size", "<i8")])
"""Where the rows of a partition are in a bundle; these entries come first, in their order."""

_ALIGNED = 64
"""Arrow wants its columns to begin at multiples of that."""


def packed(
    parcels: Iterable[Parcel], store: Store, tick: int, partitions: int, many: int = MANY
) -> Iterator[Packed]:
    """Parcels of a task, ready to travel: those to `many` partitions are one for each exchange."""
    packer = Packer(store, tick)
    for tag, each in groupby(parcels, key=lambda parcel: parcel.tag):
        same = list(each)
        if tag >= 0 and len(same) > 1 and partitions > many:
            yield Packed(EVERY, tag, b"", _bundle(same, store, tick, partitions))
        else:
            yield from map(packer, same)


def _bundle(parcels: Sequence[Parcel], store: Store, tick: int, partitions: int) -> str:
    """Write a file with the rows for all partitions; its name."""
    entries = np.zeros(partitions, _ENTRY)
    parts: list[bytes | memoryview] = [b""]
    written: dict[int, tuple[int, int]] = {}
    end = entries.nbytes
    for parcel in parcels:
        assert parcel.rows is not None
        place = written.get(id(parcel.rows))
        if place is None:  # the same rows may go to all partitions
            body = to_bytes(parcel.rows)
            gap = -end % _ALIGNED
            parts += [bytes(gap), memoryview(body)]
            place = written[id(parcel.rows)] = end + gap, body.size
            end = sum(place)
        entries[parcel.target] = place
    parts[0] = entries.tobytes()
    return _put(parts, store, tick)


def joined(bundles: Sequence[Packed], store: Store, tick: int) -> Packed:
    """One parcel for all bundles of an exchange: it names the file that names them."""
    names = "\n".join(bundle.file or "" for bundle in bundles).encode()
    return Packed(EVERY, bundles[0].tag, b"", _put([names], store, tick))


def _put(parts: Sequence[bytes | memoryview], store: Store, tick: int) -> str:
    file = f"{scratch(tick)}/{uuid4().hex}.bundle"
    store.put(file, *parts, scratch=True)
    return file


def rows_of(bundles: Packed, store: Store, partition: int) -> Iterator[pl.DataFrame]:
    """The rows for a partition in bundles that were `joined`."""
    assert bundles.file is not None
    for name in store.get(bundles.file).decode().split("\n"):
        entry = store.part(name, partition * _ENTRY.itemsize, _ENTRY.itemsize)
        offset, size = np.frombuffer(entry, _ENTRY)[0].tolist()
        if size:
            yield from_bytes(store.part(name, offset, size))
