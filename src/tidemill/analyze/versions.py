"""Temporal joins as others write them: `JOIN tariff FOR SYSTEM_TIME AS OF h.ts`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tidemill.analyze.boundedness import validity
from tidemill.analyze.scope import Item


def without_arrival(join: exp.Join, before: Sequence[Item]) -> exp.Join:
    """The join without the words, where they say what it does anyway.

    A row that holds for an instant meets the rows of that instant. So these words are true of the
    time of a stream without a window; `AS OF` anything else is left for a refusal.
    """
    version = join.this.args.get("version")
    if version is None or not any(_is_time(version.expression, item) for item in before):
        return join
    plain = join.copy()
    plain.this.set("version", None)
    return plain


def _is_time(node: exp.Expr | None, item: Item) -> bool:
    """Whether a column is the time of the rows of an entry, each of which holds only then."""
    if not isinstance(node, exp.Column) or item.is_windowed or not validity(item.plan).instant:
        return False
    if node.table.casefold() not in ("", item.alias.casefold()):
        return False
    return item.match(node.name) in item.hidden
