"""What a relation connects, and how it is divided.

The keys of streams are the nodes of a graph, rows of the relation connect them. Rows of streams
whose keys nothing connects never meet: such components can be joined apart, with a part of the
memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.keys import canonical, key_table, key_values

Columns = Sequence[str]


def components(relation: pl.DataFrame, keys: Sequence[Columns]) -> Ints:
    """The component of each row of a relation without NULL in its keys; larger ones come first.

    The numbers do not depend on the order of the rows.

    >>> f = pl.DataFrame({"a": [3, 1, 1, 2], "b": [9, 7, 8, 8]})
    >>> components(f, [["a"], ["b"]]).tolist()
    [1, 0, 0, 0]
    """
    from tidemill.physical.operators.star.kernel.connecting import (
        connect,  # compiled where it is needed
    )

    if relation.height == 0:
        return np.empty(0, dtype=np.int64)
    nodes, size = [], 0
    for columns in keys:
        values = key_values(relation, columns)
        found = key_table(values).find_or_add(values)
        nodes.append(found + size)
        size += int(found.max()) + 1
    roots = np.arange(size)
    for others in nodes[1:]:
        connect(roots, nodes[0], others)
    labels = roots[nodes[0]]
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    names = list(dict.fromkeys(name for columns in keys for name in columns))
    hashes = canonical(relation.select(names)).hash_rows().to_numpy()
    first = np.full(len(sizes), np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(first, labels, hashes)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[labels]


def packed(loads: Ints, parts: int) -> Ints:
    """The part of each component: the heaviest first, each to the part that is lightest then.

    >>> packed(np.array([5, 9, 3, 1]), 2).tolist()
    [1, 0, 1, 1]
    """
    heap = [(0, part) for part in range(parts)]
    found = np.zeros(len(loads), dtype=np.int64)
    for component in np.argsort(-loads, kind="stable").tolist():
        load, part = heap[0]
        found[component] = part
        heapq.heapreplace(heap, (load + int(loads[component]), part))
    return found


def shares(loads: Ints, places: int) -> Ints:
    """Places in proportion to loads; each has one, if there are enough.

    What is left over goes to the largest remainders.

    >>> shares(np.array([10, 5, 6]), 10).tolist()
    [5, 2, 3]
    >>> shares(np.array([1000, 0, 1]), 10).tolist()
    [9, 0, 1]
    """
    wanted = places * loads / max(1, loads.sum())
    found: Ints = np.floor(wanted).astype(np.int64)
    left = (places if loads.any() else 0) - found.sum()
    found[np.argsort(found - wanted, kind="stable")[:left]] += 1
    if np.count_nonzero(loads) <= places:
        for without in np.flatnonzero((found == 0) & (loads > 0)):
            found[np.argmax(found)] -= 1
            found[without] = 1
    return found


def divided(relation: pl.DataFrame, keys: Sequence[Columns], parts: int) -> tuple[Ints, Ints]:
    """The part of each row of a relation, and how many rows each part has.

    >>> f = pl.DataFrame({"a": [1, 1, 2, 3], "b": [7, 8, 8, 9]})
    >>> parts, loads = divided(f, [["a"], ["b"]], 2)
    >>> parts.tolist(), loads.tolist()
    ([0, 0, 0, 1], [3, 1])
    """
    found = components(relation, keys)
    mine = packed(np.bincount(found), parts)[found]
    return mine, np.bincount(mine, minlength=parts)
