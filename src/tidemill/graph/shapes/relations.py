"""The constants of queries as relations, one for every shape, which a graph keeps for itself."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from tidemill.algebra.nodes import VERSION, Scan, SourceKind
from tidemill.algebra.schema import Field, Schema
from tidemill.catalog import SourceInfo
from tidemill.graph.shapes.parameters import TYPES
from tidemill.physical.operator import Exec
from tidemill.physical.operators.pick import Constants, number_of
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.relations import LocalRelation
from tidemill.runtime.sources import ChangingSource

_PREFIX = "#constants"
NUMBER = "query"


def relation_name(columns: Collection[Field], shape: str) -> str:
    """The name of the relation of a shape, which tells its columns.

    >>> relation_name([Field("p0", pa.int64())], "3f")
    '#constants 3f int64'
    """
    return " ".join([_PREFIX, shape, *(str(each.type) for each in columns)])


def is_constants(name: str) -> bool:
    """Whether a source is a relation of constants."""
    return name.startswith(f"{_PREFIX} ")


def reads_constants(plan: Exec) -> bool:
    """Whether a plan depends on the constants of the query that asks."""
    leaves = (leaf for leaf in plan.walk() if isinstance(leaf, SourceExec))
    return any(is_constants(leaf.scan.source) for leaf in leaves)


def columns_of(name: str) -> Schema:
    """The columns of a relation of constants."""
    kinds = name.split(" ")[2:]
    parameters = (Field(f"p{number}", TYPES[kind]) for number, kind in enumerate(kinds))
    return Schema((Field(NUMBER, pa.int64()), *parameters))


def scan_of(name: str) -> Scan:
    """A reading of a relation of constants."""
    columns = Schema((*columns_of(name), Field(VERSION, pa.int64())))
    return Scan(name, _PREFIX, columns, SourceKind.CHANGING)


class ConstantRelations:
    """The relations of all shapes of a graph."""

    def __init__(self) -> None:
        self._relations: dict[str, LocalRelation] = {}

    def open(self, name: str) -> ChangingSource:
        """A relation as a run reads it.

        It has no time: as with any other query, the rows that come from the next tick on count,
        whatever their time.
        """
        info = SourceInfo(name, columns_of(name), SourceKind.CHANGING, None)
        return ChangingSource(info, self._relation(name).follow(), timeless=True)

    def change(self, name: str, come: Collection[Constants], gone: Collection[Constants]) -> None:
        """Let queries with these constants come and go."""
        relation = self._relation(name)
        if gone:
            numbers = [number_of(each) for each in gone]
            relation.delete(lambda rows: rows[NUMBER].is_in(numbers).to_numpy())
        if come:
            relation.insert(_rows(columns_of(name), come))

    def _relation(self, name: str) -> LocalRelation:
        if name not in self._relations:
            columns = columns_of(name)
            self._relations[name] = LocalRelation(columns, columns.to_arrow().empty_table)
        return self._relations[name]


def _rows(columns: Schema, constants: Collection[Constants]) -> pa.Table:
    schema = columns.to_arrow()
    values = zip(*((number_of(each), *each) for each in constants), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(values, schema.types, strict=True)]
    return pa.table(arrays, schema=schema)
