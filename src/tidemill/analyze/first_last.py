"""FIRST and LAST as aggregates: a value of the earliest and of the latest row of a group.

They stand for MIN_BY and MAX_BY by the time of the stream in FROM. Rows that a join made of two
streams have two times, so which one is meant has to be said.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from tidemill.algebra import SourceKind
from tidemill.analyze.aggregate_calls import only_where
from tidemill.analyze.context import Context
from tidemill.analyze.functions import is_over_rows, name_of_call
from tidemill.analyze.generators import is_generator
from tidemill.analyze.joins import hides_right
from tidemill.analyze.over_clause import unwrapped
from tidemill.analyze.trees import outside_subqueries, rewrite, written
from tidemill.catalog.catalog import SourceInfo
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import WindowTable, error_at

_EARLIEST: Final = (exp.First, exp.FirstValue)
_LATEST: Final = (exp.Last, exp.LastValue)
_CLAUSES: Final = ("having", "order", "qualify")


def with_first_and_last(select: exp.Select, context: Context) -> exp.Select:
    """The query with MIN_BY and MAX_BY in the place of FIRST and LAST without OVER."""
    places = [*select.expressions, *(select.args.get(clause) for clause in _CLAUSES)]
    parts = (part for place in places if place is not None for part in outside_subqueries(place))
    calls = [part for part in parts if _is_call(part)]
    if not calls or select.args.get("from_") is None:
        return select
    time = _time(select, calls[0], context)
    query: exp.Select = select.copy()
    query.set("expressions", [_selected(item, time) for item in select.expressions])
    for clause in _CLAUSES:
        if (node := select.args.get(clause)) is not None:
            query.set(clause, _changed(node, time))
    return query


def _is_call(node: exp.Expr) -> bool:
    return isinstance(node, (*_EARLIEST, *_LATEST)) and not is_over_rows(node)


def _selected(item: exp.Expr, time: exp.Column) -> exp.Expr:
    """An item of the select list; without a name, it is named as it was written."""
    changed = _changed(item, time)
    if changed == item or isinstance(item, exp.Alias):
        return changed
    return exp.alias_(changed, written(item), quoted=True)


def _changed(node: exp.Expr, time: exp.Column) -> exp.Expr:
    def change(part: exp.Expr) -> exp.Expr | None:
        call, ignores_nulls, condition = unwrapped(part)
        return _by_time(call, time, ignores_nulls, condition) if _is_call(call) else None

    return rewrite(node, change)


def _by_time(
    call: exp.Expr, time: exp.Column, ignores_nulls: bool, condition: exp.Expr | None
) -> exp.Expr:
    value = call.this
    if value is None or isinstance(value, exp.Distinct | exp.Star):
        message = f"`{name_of_call(call)}` takes one column or expression"
        raise error_at(PlanError, message, call, "as in FIRST(price)")
    # Rows without a key do not count.
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    key = only_where(time, known) if ignores_nulls else time.copy()
    kind = exp.ArgMin if isinstance(call, _EARLIEST) else exp.ArgMax
    found: exp.Expr = kind(this=value.copy(), expression=key)
    found.meta.update(call.meta)
    if condition is None:
        return found
    return exp.Filter(this=found, expression=exp.Where(this=condition.copy()))


def _time(select: exp.Select, call: exp.Expr, context: Context) -> exp.Column:
    """The time column of the only stream in FROM."""
    joins = [join for join in select.args.get("joins") or () if not hides_right(join)]
    entries = [select.args["from_"].this, *(join.this for join in joins)]
    entries = [entry for entry in entries if not _is_timeless(entry, context)]
    found = _time_of(entries[0], context) if len(entries) == 1 else None
    if found is None:
        raise _refused(call, len(entries) > 1)
    return found


def _refused(call: exp.Expr, several: bool) -> PlanError:
    what = "more than one stream or subquery" if several else "nothing with a time column"
    message = f"`{name_of_call(call)}` goes by the time of a stream, and FROM has {what}"
    function = "MIN_BY" if isinstance(call, _EARLIEST) else "MAX_BY"
    help = f"name what orders the rows: {function}(price, ts); a subquery in FROM has to select it"
    if several:
        help = f"say which: {function}(price, a.ts) goes by the column ts of a"
    return error_at(UnsupportedError, message, call, help)


def _is_timeless(entry: exp.Expr, context: Context) -> bool:
    """Whether an entry is a relation or a list, so that rows begin by the times of others."""
    if isinstance(entry, exp.Values) or is_generator(entry):
        return True
    info = _source(entry, context)
    return info is not None and info.kind is not SourceKind.STREAM


def _source(entry: exp.Expr, context: Context) -> SourceInfo | None:
    if not isinstance(entry, exp.Table) or not isinstance(entry.this, exp.Identifier):
        return None
    if entry.name.casefold() in context.common_tables:
        return None
    info = context.catalog.readable(entry.name)
    return info if isinstance(info, SourceInfo) else None


def _time_of(entry: exp.Expr, context: Context) -> exp.Column | None:
    if isinstance(entry, exp.Table) and isinstance(entry.this, WindowTable):
        alias = entry.alias or entry.this.args["data"].alias_or_name
        return exp.column(entry.this.args["timecol"].name, alias, quoted=True)
    info, alias = _source(entry, context), entry.args.get("alias")
    renames = alias is not None and bool(alias.args.get("columns"))
    if info is None or info.time_column is None or renames:
        return None
    return exp.column(info.time_column, entry.alias_or_name, quoted=True)
