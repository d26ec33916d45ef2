"""Objects as one block of bytes, whose arrays are used where they lie.

A block starts with an index: the size of the pickled object and those of its arrays. The arrays
follow it, aligned, outside of the pickle, so that a file that is mapped into memory is read only
where an operator looks.
"""

from __future__ import annotations

import mmap
import pickle
import struct
from collections.abc import Callable
from typing import Any

import cloudpickle

_ALIGNMENT = 64
_NUMBER = struct.Struct("<Q")


def dump(value: Any) -> list[bytes | memoryview]:
    """The parts of a block, to be written one after the other.

    >>> import numpy as np
    >>> block = bytearray(b"".join(dump({"ticks": np.arange(3)})))
    >>> load(block)
    {'ticks': array([0, 1, 2])}
    """
    arrays: list[pickle.PickleBuffer] = []
    dumps: Callable[..., bytes] = cloudpickle.dumps
    pickled = dumps(value, protocol=5, buffer_callback=arrays.append)
    parts = [memoryview(pickled), *(array.raw() for array in arrays)]
    index = [_NUMBER.pack(number) for number in (len(parts), *(part.nbytes for part in parts))]
    block: list[bytes | memoryview] = [b"".join(index)]
    end = len(block[0])
    for part in parts:
        block += [bytes(-end % _ALIGNMENT), part]
        end += -end % _ALIGNMENT + part.nbytes
    return block


def load(block: bytearray | mmap.mmap) -> Any:
    """The object of a block. Its arrays share the memory of the block, and may change it."""
    view = memoryview(block)
    (count,) = _NUMBER.unpack_from(view)
    sizes = [_NUMBER.unpack_from(view, _NUMBER.size * n)[0] for n in range(1, count + 1)]
    end = _NUMBER.size * (count + 1)
    parts = []
    for size in sizes:
        start = end + -end % _ALIGNMENT
        parts.append(view[start : start + size])
        end = start + size
    return pickle.loads(parts[0], buffers=parts[1:])
