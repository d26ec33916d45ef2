"""The answers of all queries of a server, in numbered files: one for each tick that has any.

A file holds, for each query, rows that came, or all that there are: then what was before does not
count. From time to time, one with all rows of all queries takes the place of those before it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl
import pyarrow as pa

from tidemill.errors import DamageError
from tidemill.store import Durability, Numbered, Part, Store

_SIZE = struct.Struct("<Q")
_FEWEST_BYTES = 4_000_000
"""Bytes that are left alone however few rows they still stand for."""

_MOST_FILES = 1000

LOST = ""
"""In the place of a name: answers were lost, and a repair has said so."""


@dataclass(frozen=True)
class KeptEntry:
    """What is new of a query: it `anew` has these rows only; up to where its answer is known.

    `given` is the number of all rows that it was given, kept or not.
    """

    tick: int
    anew: bool = False
    until: int | None = None
    kept_from: int | None = None
    given: int = 0


Entries = Sequence[tuple[str, KeptEntry, pl.DataFrame | None]]
"""By the names of queries."""


class AnswerLog:
    """Entries on disk, in their order.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     AnswerLog(folder).add([("q", KeptEntry(tick=7), pl.DataFrame({"n": [1]}))])
    ...     [(name, entry.tick, rows.rows()) for name, entry, rows in AnswerLog(folder).entries()]
    [('q', 7, [(1,)])]
    """

    def __init__(self, folder: str, durability: Durability = "process") -> None:
        self._store = Store(folder, durability)
        self._files = Numbered(self._store, "answers", ".rows", keep_last=True)
        self._whole = self._since = 0

    def add(self, entries: Entries) -> None:
        """Write down what is new; a crash leaves it when this returns."""
        self._since += self._files.put(self._files.next, *_packed(entries))

    @property
    def is_long(self) -> bool:
        """Whether so much has gathered that it is worth writing all answers anew."""
        most = max(_FEWEST_BYTES, self._whole)
        return self._since > most or len(self._files.numbers) > _MOST_FILES

    def replace(self, entries: Entries) -> None:
        """Have these entries instead of all before."""
        number = self._files.next
        self._whole, self._since = self._files.put(number, *_packed(entries)), 0
        self._files.remove_before(number)

    def entries(self) -> Iterator[tuple[str, KeptEntry, pl.DataFrame | None]]:
        """All that was written down."""
        for number in self._files.numbers:
            file = self._files.buffer(number)
            self._since += file.size
            entries = list(_unpacked(file))
            if number == self._files.numbers[0] > 0 and not all(e.anew for _, e, _ in entries):
                raise DamageError(self._store.path(self._files.file(number - 1)), "it is missing")
            yield from entries


def _packed(entries: Entries) -> list[Part]:
    """First what the entries are, then their rows."""
    bodies = [b"" if rows is None else _to_bytes(rows) for _, _, rows in entries]
    known = [
        {"query": name, "bytes": len(body), **asdict(entry)}
        for (name, entry, _), body in zip(entries, bodies, strict=True)
    ]
    head = json.dumps(known).encode()
    return [_SIZE.pack(len(head)), head, *(memoryview(body) for body in bodies)]


def _unpacked(file: pa.Buffer) -> Iterator[tuple[str, KeptEntry, pl.DataFrame | None]]:
    (size,) = _SIZE.unpack(file[: _SIZE.size])
    at = _SIZE.size + size
    known: list[Mapping[str, int]] = json.loads(file[_SIZE.size : at].to_pybytes())
    for fields in known:
        rest = dict(fields)
        name, length = str(rest.pop("query")), rest.pop("bytes")
        body, at = file[at : at + length], at + length
        yield name, KeptEntry(**rest), _from_bytes(body) if length else None  # type: ignore[arg-type]


def _to_bytes(rows: pl.DataFrame) -> memoryview:
    table = rows.to_arrow(compat_level=pl.CompatLevel.newest())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return memoryview(sink.getvalue())


def _from_bytes(body: pa.Buffer) -> pl.DataFrame:
    found = pl.DataFrame(pa.ipc.open_stream(body).read_all())
    return found.clone()
