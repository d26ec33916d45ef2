"""A relation cut where nothing connects its rows, and memory cut with it.

Components of the relation can be joined apart; only memory binds them together. Cut into fixed
shares, it cannot follow a component that is busy for a while, so that the best join of the parts is
at most as good as the best join of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from experiments.offline.result import BestJoin, join_tables
from experiments.offline.terms import Terms, column
from tidemill.physical.operators.star.components import components, packed, shares

COMPONENT = "#component"


class Part(NamedTuple):
    """Some components of a relation, with their share of memory."""

    relation: pa.Table
    terms: Terms

    def join(self, r: pa.Table, s: pa.Table) -> BestJoin:
        """The best join of this part; rows that belong to others do no harm."""
        return join_tables(r, s, self.relation, self.terms)


@dataclass(frozen=True)
class Cut:
    """A relation without keys that are NULL, and the component of each row."""

    relation: pa.Table
    components: np.ndarray
    terms: Terms

    def keys(self, side: int) -> pa.Table:
        """The keys that rows of r (side 0) or s (side 1) find, with their components."""
        names = self.terms.keys[side]
        table = self.relation.select(list(names.values())).rename_columns(list(names))
        found = _frame(table.append_column(COMPONENT, pa.array(self.components)))
        return found.unique(maintain_order=True).to_arrow()

    @property
    def count(self) -> int:
        """How many components there are."""
        return int(self.components.max(initial=-1)) + 1

    def parts(self, loads: np.ndarray, count: int) -> tuple[np.ndarray, list[Part]]:
        """The part of each component, and the parts: alike in load, with memory as they need.

        The load of a component is the number of rows of streams that find it.
        """
        places = packed(loads, count)
        slots = shares(np.bincount(places, weights=loads, minlength=count), self.terms.slots)
        mine = places[self.components]
        return places, [
            Part(self.relation.filter(pa.array(mine == part)), self.terms.with_memory(2 * int(own)))
            for part, own in enumerate(slots)
        ]


def cut(f: pa.Table, terms: Terms) -> Cut:
    """The relation by its components; rows that share a key of r, or one of s, are in one.

    >>> f = pa.table({"a": [1, 1, 2, 3], "b": [7, 8, 8, 9]})
    >>> cut(f, Terms(2, (5, 5), ("at", "at"), ({"a": "a"}, {"b": "b"}))).components
    array([0, 0, 0, 1])
    """
    keys = [list(pairs.values()) for pairs in terms.keys]
    for name in (name for each in keys for name in each):
        f = f.filter(column(f, "f", name).is_valid())
    return Cut(f, components(_frame(f), keys), terms)


def join_parts(r: pa.Table, s: pa.Table, f: pa.Table, terms: Terms, parts: int) -> BestJoin:
    """The best join of each part, all together."""
    whole = cut(f, terms)
    numbers = [_components_of(table, whole, side) for side, table in enumerate((r, s))]
    loads = np.bincount(np.concatenate(numbers), minlength=whole.count)
    found = [part.join(r, s) for part in whole.parts(loads, parts)[1]]
    return BestJoin(
        sum(each.importance for each in found),
        sum(each.tuples for each in found),
        pa.concat_tables([each.outputs for each in found]).sort_by("time"),
        pa.concat_tables([each.kept for each in found]),
        sum(each.exact_importance for each in found),
        sum(each.exact_tuples for each in found),
    )


def _components_of(stream: pa.Table, whole: Cut, side: int) -> np.ndarray:
    """The components of all rows of a stream that find one."""
    names = list(whole.terms.keys[side])
    found = _frame(stream.select(names)).join(_frame(whole.keys(side)), on=names)
    return found[COMPONENT].to_numpy()


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))
