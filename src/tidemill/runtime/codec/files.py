"""The files: one row of Arrow, the tree first."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from tidemill.errors import DamageError, ExecutionError, TidemillError
from tidemill.runtime.codec.columns import Block
from tidemill.runtime.codec.decoding import Decoder, Undecodable
from tidemill.runtime.codec.encoding import Encoder
from tidemill.runtime.codec.functions import KnownFunctions
from tidemill.store import Part, Store

FORMAT = b"1"
"""Raised when files are laid out in another way."""

_FORMAT, _TREE = b"tidemill", "tree"


class _Parts:
    """A file that is written: its pieces as they are, without a copy."""

    closed = False

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._size = 0

    def write(self, part: bytes | pa.Buffer) -> None:
        self.parts.append(memoryview(part))
        self._size += len(part)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def dump(value: Any) -> list[Part]:
    """The parts of a file, to be written one after the other.

    >>> import numpy as np
    >>> load(bytearray(b"".join(dump({"ticks": np.arange(3)}))))
    {'ticks': array([0, 1, 2])}
    """
    encoder = Encoder()
    root = encoder.value(value)
    tree = json.dumps([root, encoder.objects], separators=(",", ":"))
    columns = [pa.array([tree], pa.large_string()), *encoder.cells]
    names = [_TREE, *(f"{at} {name}" for at, name in enumerate(encoder.names))]
    kinds = [pa.field(n, column.type) for n, column in zip(names, columns, strict=True)]
    schema = pa.schema(kinds, metadata={_FORMAT: FORMAT})
    sink = _Parts()
    with pa.ipc.new_file(pa.PythonFile(sink, "w"), schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))
    return sink.parts


def load(
    block: Block,
    rows: pa.Buffer | None = None,
    where: str = "",
    known: KnownFunctions | None = None,
    into: Any = None,
) -> Any:
    """The value of a file. Its arrays share the memory of the block, and may change it.

    `rows` are the same bytes in memory of Arrow's, which frames go on using: a thread of Polars
    that lets go of memory of Python would wait for the thread that waits for Polars. Without it,
    they are copied.
    """
    if rows is None:
        rows = _copied(block)
    try:
        tree, cells = _opened(block), _opened(rows)
        root, objects = json.loads(tree.column(0)[0].as_py())
        arrays = tree.columns[1:]
        decoder = Decoder(objects, arrays, cells.columns[1:], block, known or KnownFunctions())
        return decoder.value(root, into)
    except TidemillError:
        raise
    except Undecodable as error:
        raise _not_ours(where, str(error)) from error
    except Exception as error:  # whatever is in the file
        raise DamageError(where, f"{type(error).__name__}: {error}") from error


def read(store: Store, name: str, known: KnownFunctions | None = None, into: Any = None) -> Any:
    """The value of a file of a store."""
    rows = store.buffer(name)
    return load(store.mapped(name, rows.size), rows, store.path(name), known, into)


def cells_of(store: Store, name: str) -> tuple[Any, list[tuple[str, pa.Array]]]:
    """The tree of a file as it is, and its cells by name, to be looked at."""
    where = store.path(name)
    try:
        batch = _opened(store.buffer(name))
        tree = json.loads(batch.column(0)[0].as_py())
    except Undecodable as error:
        raise _not_ours(where, str(error)) from error
    except (pa.ArrowInvalid, ValueError) as error:
        raise DamageError(where, str(error)) from error
    return tree, list(zip(batch.schema.names[1:], batch.columns[1:], strict=True))


def _opened(content: Any) -> pa.RecordBatch:
    reader = pa.ipc.open_file(content)
    found = (reader.schema.metadata or {}).get(_FORMAT)
    if found != FORMAT:
        raise Undecodable(f"it has the format {found!r}, not {FORMAT!r}")
    return reader.get_batch(0)


def _copied(block: Block) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    sink.write(block)
    return sink.getvalue()


def _not_ours(where: str, why: str) -> ExecutionError:
    return ExecutionError(
        f"the file {where} cannot be read: {why}",
        help="use the version of Tidemill that has written it, or start again with another "
        "checkpoint",
    )
