"""`GROUP BY window(ts, '10 minutes')`: Spark's way to write TUMBLE and HOP.

A query with such a call reads a table of windows instead of its stream, and `window` is a struct
of the columns `window_start` and `window_end` of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from tidemill.analyze.trees import outside_subqueries, rewrite
from tidemill.catalog.catalog import Catalog, SourceInfo
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import UNIT_MICROS, Duration, WindowTable, error_at

_CLAUSES: Final = ("expressions", "where", "group", "having", "order")
_WINDOW: Final = "window"
_LENGTH: Final = re.compile(r"(\d+)\s*([a-z]+?)s?\s*(?=\d|$)")
_HELP: Final = "write for example window(ts, '10 minutes') or window(ts, '10 minutes', '5 minutes')"


def with_window_tables(select: exp.Select, catalog: Catalog) -> exp.Select:
    """The query with a table of windows in FROM, if it calls `window(...)`; else itself."""
    calls = [node for node in _own_nodes(select) if _is_call(node, _WINDOW)]
    _refuse_sessions(select)
    if not calls:
        return select
    if len({call.sql() for call in calls}) > 1:
        message = "a query groups its rows by one window(...), and this is another"
        other = next(call for call in calls if call.sql() != calls[0].sql())
        raise error_at(UnsupportedError, message, other, "use a subquery for each")
    return _Calls(select, calls[0], catalog).replaced()


def _own_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    for clause in _CLAUSES:
        value = select.args.get(clause)
        for part in value if isinstance(value, list) else [value] if value else []:
            yield from outside_subqueries(part)


def _is_call(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == name


def _refuse_sessions(select: exp.Select) -> None:
    for node in _own_nodes(select):
        if _is_call(node, "session_window"):
            help = "write FROM bid WINDOW(SESSION 10 MINUTES), PARTITION BY a key perhaps"
            message = "a session is written as a window behind its stream"
            raise error_at(UnsupportedError, message, node, help)


@dataclass
class _Calls:
    select: exp.Select
    call: exp.Expr
    catalog: Catalog

    def replaced(self) -> exp.Select:
        """The query without calls."""
        query: exp.Select = self.select.copy()
        entry = self._entry(query)
        self._alias = entry.alias_or_name
        entry.replace(self._table(entry))
        self._names = {_WINDOW, *self._aliases()}
        query.set("expressions", [self._selected(each) for each in query.expressions])
        for clause in _CLAUSES[1:]:
            if (node := query.args.get(clause)) is not None:
                query.set(clause, rewrite(node, self._change))
        return query

    def _entry(self, query: exp.Select) -> exp.Expr:
        """The stream whose time the call names."""
        time = self.call.expressions[0]
        if not isinstance(time, exp.Column):
            raise error_at(PlanError, "window(...) takes a time column first", self.call, _HELP)
        entries = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or ())]
        tables = [each for each in entries if isinstance(each, exp.Table | exp.Subquery)]
        named = [each for each in tables if each.alias_or_name == time.table]
        found = named or [each for each in tables if self._has_time(each, time.name)] or tables
        if found[0].args.get("stream_window") or isinstance(found[0].this, WindowTable):
            message = f"`{found[0].alias_or_name}` has a window in FROM already"
            raise error_at(PlanError, message, self.call, "remove one of the two")
        return found[0]

    def _has_time(self, entry: exp.Expr, name: str) -> bool:
        info = self.catalog.find(entry.name) if isinstance(entry, exp.Table) else None
        time = info.time_column if isinstance(info, SourceInfo) else None
        return bool(time) and str(time).casefold() == name.casefold()

    def _table(self, entry: exp.Expr) -> exp.Table:
        time, *sizes = self.call.expressions
        if not 1 <= len(sizes) <= 3:
            raise error_at(PlanError, "window(...) takes a time and a length", self.call, _HELP)
        given = dict(zip(("size", "slide", "offset"), map(_length, sizes), strict=False))
        kind = "HOP" if "slide" in given else "TUMBLE"
        data = entry.copy()
        node = WindowTable(kind=kind, data=data, timecol=time.this.copy(), **given)
        node.meta.update(self.call.meta)
        alias = exp.TableAlias(this=exp.to_identifier(self._alias, quoted=True))
        return exp.Table(this=node, alias=alias)

    def _aliases(self) -> Iterator[str]:
        for each in self.select.expressions:
            if isinstance(each, exp.Alias) and _is_call(each.this, _WINDOW):
                yield each.alias

    def _selected(self, node: exp.Expr) -> exp.Expr:
        """An expression of the select list, with the name that it has in Spark."""
        changed = rewrite(node, self._change)
        if changed == node or isinstance(node, exp.Alias):
            return changed
        name = _WINDOW if isinstance(changed, exp.Struct) else changed.name
        field = name.removeprefix(f"{_WINDOW}_")
        return (
            exp.alias_(changed, field) if isinstance(changed, exp.Column | exp.Struct) else changed
        )

    def _change(self, node: exp.Expr) -> exp.Expr | None:
        if isinstance(node, exp.Group):
            return self._grouped(node)
        if self._is_window(node):
            ends = [
                exp.PropertyEQ(this=exp.to_identifier(end), expression=self._end(end))
                for end in ("start", "end")
            ]
            return exp.Struct(expressions=ends)
        if isinstance(node, exp.Column | exp.Dot) and (end := self._named_end(node)):
            return self._end(end)
        return None

    def _grouped(self, node: exp.Group) -> exp.Group:
        """GROUP BY with the two ends in the place of a window."""
        group = node.copy()
        keys: list[exp.Expr] = []
        for each in node.expressions:
            ends = [self._end("start"), self._end("end")]
            keys += ends if self._is_window(each) else [rewrite(each, self._change)]
        group.set("expressions", keys)
        return group

    def _is_window(self, node: exp.Expr) -> bool:
        """Whether this is the window: the call, or its name."""
        named = isinstance(node, exp.Column) and not node.table and node.name in self._names
        return named or _is_call(node, _WINDOW)

    def _named_end(self, node: exp.Column | exp.Dot) -> str | None:
        """`start` or `end`, where these are fields of the window."""
        if isinstance(node, exp.Column):
            own = node.table in self._names
        else:
            own = self._is_window(node.this)
        return node.name.lower() if own and node.name.lower() in ("start", "end") else None

    def _end(self, end: str) -> exp.Column:
        return exp.column(f"{_WINDOW}_{end}", table=exp.to_identifier(self._alias, quoted=True))


def _length(node: exp.Expr) -> Duration:
    """A length of time: Spark writes it as text, '1 hour 30 minutes'."""
    text = node.name.strip().lower().removeprefix("interval").strip()
    found = _LENGTH.findall(text)
    if isinstance(node, exp.Literal) and text.isdecimal():
        duration = Duration(this=exp.Literal.number(text))
    elif (
        found
        and not _LENGTH.sub("", text).strip()
        and all(u.upper() in UNIT_MICROS for _, u in found)
    ):
        micros = sum(int(number) * UNIT_MICROS[unit.upper()] for number, unit in found)
        duration = Duration(this=exp.Literal.number(micros), unit=exp.var("MICROSECOND"))
    else:
        message = f"`{node.sql()}` is no length of time"
        raise error_at(PlanError, message, node, _HELP)
    duration.meta.update(node.meta)
    return duration
