"""Which column of its inputs does a name in a setting mean?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Schema
from tidemill.analyze.scope import Scope
from tidemill.analyze.trees import placed
from tidemill.compose.texts import column_text, short
from tidemill.errors import PlanError, nearest
from tidemill.sql import error_at


@dataclass
class PlanScope(Scope):
    """The columns of a plan: `b.price` by its name, and `price` if only one column ends so.

    `times` are the time columns that scans of the plan leave out, with the names of the scans.
    """

    schema: Schema = field(default_factory=lambda: Schema(()))
    times: Mapping[str, str] = field(default_factory=dict)

    def resolve(self, column: exp.Column) -> exp.Expr:
        """The expression over plan columns that a name means."""
        found = self.find(column)
        if found is None:
            raise self._nothing(column)
        return found

    def find(self, column: exp.Column) -> exp.Expr | None:
        """Like `resolve`, without complaining about an unknown name."""
        parts = [part.name for part in column.parts]
        for size in range(len(parts), 0, -1):
            name = self._match(".".join(parts[:size]), column)
            if name is not None:
                return self._inside(placed(name, column), name, parts[size:])
        return None

    def _match(self, wanted: str, column: exp.Column) -> str | None:
        folded = wanted.casefold()
        names = [name for name in self.schema.names if not name.startswith("#")] or []
        exact = [name for name in self.schema.names if name.casefold() == folded]
        found = exact or [name for name in names if short(name).casefold() == folded]
        if len(found) > 1:
            help = f"write {' or '.join(map(column_text, found))}"
            raise error_at(PlanError, f"`{wanted}` is ambiguous", column, help)
        return found[0] if found else None

    def _inside(self, node: exp.Expr, name: str, fields: list[str]) -> exp.Expr | None:
        """Go from a struct into its fields."""
        data_type = self.schema[name]
        for wanted in fields:
            inner = None
            if pa.types.is_struct(data_type):
                folded = wanted.casefold()
                inner = next((f for f in data_type if f.name.casefold() == folded), None)
            if inner is None:
                return None
            node = exp.Dot(this=node, expression=exp.to_identifier(inner.name, quoted=True))
            data_type = inner.type
        return node

    def _nothing(self, column: exp.Column) -> PlanError:
        shown = ".".join(part.name for part in column.parts)
        if (scan := self.times.get(column.name.casefold())) is not None:
            help = f"the scan of `{scan}` gives it as a column if its setting Time says so"
            message = f"`{shown}` is the time of `{scan}`, which is not among its columns"
            return error_at(PlanError, message, column, help)
        names = [name for name in self.schema.names if "#" not in name]
        near = nearest(shown, [*names, *map(short, names)])
        guess = f"did you mean `{near}`? " if near else ""
        columns = f"columns: {', '.join(map(column_text, names))}"
        return error_at(PlanError, f"unknown column `{shown}`", column, guess + columns)
