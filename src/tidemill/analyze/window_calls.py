"""`GROUP BY window(ts, '10 minutes')`: Spark's way to write TUMBLE, HOP and SESSION.

A query with such a call reads a table of windows instead of its stream, and `window` is a struct
of the columns `window_start` and `window_end` of that. The older way of Flink, `GROUP BY TUMBLE(ts,
...)` with `TUMBLE_START(ts, ...)`, is read as Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from tidemill.analyze.grouped_windows import as_calls
from tidemill.analyze.trees import outside_subqueries, rewrite
from tidemill.catalog.catalog import Catalog, SourceInfo
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import UNIT_MICROS, Duration, WindowTable, error_at

_CLAUSES: Final = ("expressions", "where", "group", "having", "qualify", "order")
_SHAPES: Final = {
    "window": "window(ts, '10 minutes') or window(ts, '10 minutes', '5 minutes')",
    "session_window": "session_window(ts, '10 minutes')",
}
_ENDS: Final = ("start", "end", "time")
_LENGTH: Final = re.compile(r"(\d+)\s*([a-z]+?)s?\s*(?=\d|$)")


def with_window_tables(select: exp.Select, catalog: Catalog) -> exp.Select:
    """The query with a table of windows in FROM, if it calls `window(...)`; else itself."""
    select = as_calls(select, _CLAUSES, catalog)
    calls = [node for node in _own_nodes(select) if _name_of(node) in _SHAPES]
    if not calls:
        return select
    if len({call.sql() for call in calls}) > 1:
        message = f"a query groups its rows by one {_name_of(calls[0])}(...), and this is another"
        other = next(call for call in calls if call.sql() != calls[0].sql())
        raise error_at(UnsupportedError, message, other, "use a subquery for each")
    return _Calls(select, calls[0], catalog).replaced()


def _own_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    for clause in _CLAUSES:
        value = select.args.get(clause)
        for part in value if isinstance(value, list) else [value] if value else []:
            yield from outside_subqueries(part)


def _name_of(node: exp.Expr) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else ""


@dataclass
class _Calls:
    select: exp.Select
    call: exp.Expr
    catalog: Catalog

    def __post_init__(self) -> None:
        self._name = _name_of(self.call)
        self._help = f"write for example {_SHAPES[self._name]}"

    def replaced(self) -> exp.Select:
        """The query without calls."""
        query: exp.Select = self.select.copy()
        entry = self._entry(query)
        self._alias = entry.alias_or_name
        self._names = {self._name, *self._aliases()}
        entry.replace(self._table(entry))
        query.set("expressions", [self._selected(each) for each in query.expressions])
        for clause in _CLAUSES[1:]:
            if (node := query.args.get(clause)) is not None:
                query.set(clause, rewrite(node, self._change))
        return query

    def _entry(self, query: exp.Select) -> exp.Expr:
        """The stream whose time the call names."""
        time = self.call.expressions[0]
        if not isinstance(time, exp.Column):
            message = f"{self._name}(...) takes a time column first"
            raise error_at(PlanError, message, self.call, self._help)
        entries = [join.this for join in query.args.get("joins") or ()]
        if (source := query.args.get("from_")) is not None:
            entries.insert(0, source.this)
        tables = [each for each in entries if isinstance(each, exp.Table | exp.Subquery)]
        named = [each for each in tables if each.alias_or_name == time.table]
        found = named or [each for each in tables if self._has_time(each, time.name)] or tables
        if not found:
            message = f"{self._name}(...) needs a stream in FROM"
            raise error_at(PlanError, message, self.call, "write SELECT ... FROM bid")
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
        if not 1 <= len(sizes) <= (1 if self._name == "session_window" else 3):
            message = f"{self._name}(...) takes a time and a length"
            raise error_at(PlanError, message, self.call, self._help)
        lengths = [_length(each, self._help) for each in sizes]
        given = dict(zip(("size", "slide", "offset"), lengths, strict=False))
        kind = "HOP" if "slide" in given else "TUMBLE"
        node = WindowTable(kind=kind, data=entry.copy(), timecol=time.this.copy(), **given)
        if self._name == "session_window":
            node.set("kind", "SESSION")
            node.set("partition_by", list(self._keys()))
        node.meta.update(self.call.meta)
        alias = exp.TableAlias(this=exp.to_identifier(self._alias, quoted=True))
        return exp.Table(this=node, alias=alias)

    def _keys(self) -> Iterator[exp.Expr]:
        """What a session belongs to: the other columns of GROUP BY."""
        group = self.select.args.get("group")
        for each in group.expressions if group is not None else ():
            if self._is_window(each):
                continue
            if not isinstance(each, exp.Column) or each.table not in ("", self._alias):
                message = "beside session_window(...), GROUP BY takes columns of the stream"
                help = "compute it in a subquery in FROM, which gives it a name"
                raise error_at(UnsupportedError, message, each, help)
            yield exp.Column(this=each.this.copy())

    def _aliases(self) -> Iterator[str]:
        for each in self.select.expressions:
            if isinstance(each, exp.Alias) and _name_of(each.this) == self._name:
                yield each.alias

    def _selected(self, node: exp.Expr) -> exp.Expr:
        """An expression of the select list, with the name that it has in Spark."""
        changed = rewrite(node, self._change)
        if changed == node or isinstance(node, exp.Alias):
            return changed
        name = self._name if isinstance(changed, exp.Struct) else changed.name
        field = name.removeprefix("window_")
        return (
            exp.alias_(changed, field) if isinstance(changed, exp.Column | exp.Struct) else changed
        )

    def _change(self, node: exp.Expr) -> exp.Expr | None:
        if isinstance(node, exp.Group):
            return self._grouped(node)
        if self._is_window(node):
            ends = [
                exp.PropertyEQ(this=exp.to_identifier(end), expression=self._end(end))
                for end in _ENDS[:2]
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
            ends = [self._end(end) for end in self._read()]
            keys += ends if self._is_window(each) else [rewrite(each, self._change)]
        group.set("expressions", keys)
        return group

    def _read(self) -> Sequence[str]:
        """The ends that the query groups by; the last instant only if it reads that."""
        nodes = (node for node in _own_nodes(self.select) if isinstance(node, exp.Dot | exp.Column))
        return _ENDS if any(self._named_end(node) == "time" for node in nodes) else _ENDS[:2]

    def _is_window(self, node: exp.Expr) -> bool:
        """Whether this is the window: the call, or its name."""
        named = isinstance(node, exp.Column) and not node.table and node.name in self._names
        return named or _name_of(node) == self._name

    def _named_end(self, node: exp.Column | exp.Dot) -> str | None:
        """`start`, `end` or `time`, where these are of the window."""
        if isinstance(node, exp.Column):
            own = node.table in self._names
        else:
            own = self._is_window(node.this)
        return node.name.lower() if own and node.name.lower() in _ENDS else None

    def _end(self, end: str) -> exp.Column:
        return exp.column(f"window_{end}", table=exp.to_identifier(self._alias, quoted=True))


def _length(node: exp.Expr, help: str) -> Duration:
    """A length of time: Spark writes it as text, '1 hour 30 minutes'."""
    interval = isinstance(node, exp.Interval)
    shown = f"{node.name} {node.text('unit')}" if interval else node.name
    text = shown.strip().lower().removeprefix("interval").strip()
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
        raise error_at(PlanError, f"`{node.sql()}` is no length of time", node, help)
    duration.meta.update(node.meta)
    return duration
