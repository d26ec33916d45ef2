"""From a logical plan to the text of a query that means it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from tidemill.algebra import (
    Aggregate,
    CountWindow,
    Difference,
    Distinct,
    Filter,
    Granularity,
    Intersection,
    Plan,
    Project,
    SortKey,
    StarJoin,
    StrictDifference,
    TimeWindow,
    TopK,
    Union,
    column,
)
from tidemill.algebra.nodes import Conditional, SetOperation, entries
from tidemill.algebra.ranking import CONFIDENCE, Ranking
from tidemill.algebra.scalar import conjuncts, equality
from tidemill.analyze import Catalog
from tidemill.analyze.windows import shown
from tidemill.compose.recognise import outer_join, source_of
from tidemill.compose.sql.block import (
    Block,
    CannotSay,
    Entry,
    aggregate_call,
    output_names,
    stream_call,
)
from tidemill.compose.texts import identifier, length
from tidemill.sql import (
    Approximate,
    RowCount,
    Shed,
    StreamFunction,
    StreamWindow,
    Tidemill,
    Unbounded,
)
from tidemill.sql import Granularity as GranularityClause
from tidemill.timeline import TimeDomain

_LARGEST: Final = 60  # parts of an expression that are put into another one
_LONGEST: Final = 200_000  # characters
_SETS: Final = {"Union": exp.Union, "Difference": exp.Except, "Intersection": exp.Intersect}


def to_sql(plan: Plan, catalog: Catalog, domain: TimeDomain | None = None) -> str:
    """A query that means the same as a plan: what `engine.sql` makes of it is an equal plan.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.analyze import SourceInfo
    >>> catalog = Catalog()
    >>> catalog.add_source(SourceInfo("bid", Schema.of(item=pa.int64())))
    >>> scan = Scan("bid", "b", Schema.of(item=pa.int64()))
    >>> item = column("b.item", pa.int64())
    >>> print(to_sql(Project(TimeWindow(scan, 5), (("item", item),)), catalog))
    SELECT
      item
    FROM bid AS b WINDOW(RANGE 5)
    """
    names = plan.schema.names
    query = _Writer(catalog, domain or TimeDomain.TICKS).query(plan, names)
    text = query.sql(dialect=Tidemill, pretty=True)
    if len(text) > _LONGEST:
        raise CannotSay("the query would be too long to read", help="split the plan")
    return text


class _Writer:
    def __init__(self, catalog: Catalog, domain: TimeDomain) -> None:
        self._catalog = catalog
        self._domain = domain
        self._aliases: set[str] = set()

    def query(self, plan: Plan, names: tuple[str, ...] | None = None) -> exp.Expr:
        """The query of a plan, with columns of these names."""
        block = self._selecting(plan)
        names = names or output_names(plan.schema.names)
        return block.finished(list(zip(plan.schema.names, names, strict=True)))

    def block(self, plan: Plan) -> Block:
        """A plan as the beginning of a query."""
        if (source := source_of(plan, self._catalog)) is not None:
            return self._source(source.name, source.alias, source.columns)
        if isinstance(plan, Ranking):
            return self.block(plan.exact)
        for kind in type(plan).__mro__:
            rule: Callable[[Any], Block] | None = getattr(self, f"_{kind.__name__.lower()}", None)
            if rule is not None:
                return rule(plan)
        message = f"SQL has no words for {type(plan).__name__}"
        raise CannotSay(message, help="use other operators")

    # FROM

    def _alias(self, wanted: str) -> str:
        alias, number = wanted, 1
        while alias.casefold() in self._aliases:
            number += 1
            alias = f"{wanted}_{number}"
        self._aliases.add(alias.casefold())
        return alias

    def _source(self, name: str, wanted: str, columns: dict[str, str]) -> Block:
        alias = self._alias(wanted)
        node = exp.Table(this=identifier(name))
        if alias != name:
            node.set("alias", exp.TableAlias(this=identifier(alias)))
        found: dict[str, exp.Expr] = {c: _column(alias, own) for c, own in columns.items()}
        return Block([Entry(node, alias)], found)

    def _wrapped(self, block: Block, plan: Plan) -> Block:
        """The block as an entry of another one; `plan` is what it gives."""
        shown = [name for name in plan.schema.names if name in block.columns]
        names = output_names(shown)
        query = block.finished(list(zip(shown, names, strict=True)))
        return self._around(query, plan, shown, names)

    def _around(
        self, query: exp.Expr, plan: Plan, columns: list[str], names: tuple[str, ...]
    ) -> Block:
        alias = self._alias(next(iter(entries(plan)), "q"))
        aliased = exp.TableAlias(this=identifier(alias))
        if isinstance(query, exp.Query):
            node: exp.Expr = exp.Subquery(this=query, alias=aliased)
        else:
            node = exp.Table(this=query, alias=aliased)
        entry = Entry(node, alias, inner=query, names=names)
        return Block([entry], {c: _column(alias, n) for c, n in zip(columns, names, strict=True)})

    # Windows

    def _timewindow(self, plan: TimeWindow) -> Block:
        window = StreamWindow(kind="RANGE", **self._sizes(plan))
        if plan.slide != 1:
            window.set("slide", self._length(plan.slide))
        return self._with_clause(plan, "stream_window", window)

    def _countwindow(self, plan: CountWindow) -> Block:
        window = StreamWindow(kind="ROWS", **self._sizes(plan))
        if plan.slide != 1:
            window.set("slide", _rows(plan.slide))
        block = self._with_clause(plan, "stream_window", window)
        if plan.partition_by:
            columns = [exp.column(identifier(block.columns[c].name)) for c in plan.partition_by]
            window.set("partition_by", columns)
        return block

    def _granularity(self, plan: Granularity) -> Block:
        node = GranularityClause(size=self._length(plan.granule))
        if plan.bounds is not None:
            finest, coarsest = (self._length(size) for size in plan.bounds[:2])
            node = GranularityClause(finest=finest, coarsest=coarsest)
        return self._with_clause(plan, "granularity", node)

    def _with_clause(self, plan: Any, clause: str, node: exp.Expr) -> Block:
        """Put a window or a granularity behind the entry that it is about.

        What looks at single rows may stand above it just as well, unless rows are counted.
        """
        block = self.block(plan.child)
        counts = isinstance(plan, CountWindow)
        fits = block.is_open and (block.is_bare if counts else block.is_rows)
        entry = block.entry
        if not fits or entry is None or _has_clause(entry.node, clause):
            block = self._wrapped(block, plan.child)
            entry = block.entry
        assert entry is not None
        entry.node.set(clause, node)
        return block

    def _sizes(self, plan: TimeWindow | CountWindow) -> dict[str, exp.Expr]:
        size = _rows if isinstance(plan, CountWindow) else self._length
        if plan.changes:
            raise CannotSay("SQL cannot tell how sizes were changed", help="use the query itself")
        if plan.bounds is not None:
            return {"min": size(plan.bounds.low), "max": size(plan.bounds.high)}
        return {"size": Unbounded() if plan.first is None else size(plan.first)}

    def _length(self, size: int) -> exp.Expr:
        return length(shown(size, self._domain))

    # Rows

    def _filter(self, plan: Filter) -> Block:
        block = self.block(plan.child)
        if block.is_closed or block.shed is not None:
            block = self._wrapped(block, plan.child)
        conditions = [block.said(part) for part in conjuncts(plan.predicate)]
        (block.where if block.group is None else block.having).extend(conditions)
        block.is_bare = False
        return block

    def _project(self, plan: Project) -> Block:
        block = self.block(plan.child)
        if block.is_closed and not _keeps_rows(plan, block):
            block = self._wrapped(block, plan.child)
        found = _items(plan, block)
        if any(_size(node) > _LARGEST for node in found.values()) and not block.is_bare:
            block = self._wrapped(block, plan.child)
            found = _items(plan, block)
        block.columns, block.is_bare = found, False
        return block

    def _distinct(self, plan: Distinct) -> Block:
        child = plan.child
        if isinstance(child, Union | StrictDifference | Intersection) and not outer_join(child):
            return self._set_operation(child, distinct=True)
        block = self._selecting(plan.child)
        if block.is_closed:
            block = self._wrapped(block, plan.child)
        block.distinct, block.is_bare = True, False
        return block

    def _selecting(self, plan: Plan) -> Block:
        """A block that selects exactly the columns of a plan."""
        block = self.block(plan)
        self._check_columns(block, plan)
        return block

    def _check_columns(self, block: Block, plan: Plan) -> None:
        for name in plan.schema.names:
            if name not in block.columns:
                message = f"rows are told apart by `{name}`, which SQL cannot name"
                raise CannotSay(message, help="put a Project below that leaves it out")

    def _stream(self, plan: Any) -> Block:
        kind, child = type(plan).__name__.upper(), plan.child
        block = self.block(child)
        entry = block.entry
        if block.is_bare and entry is not None and entry.inner is None:
            node = entry.node.copy()
            node.set("alias", None)
            alias = exp.TableAlias(this=identifier(entry.alias))
            entry.node = exp.Table(this=stream_call(kind, node), alias=alias)
            return block
        self._check_columns(block, child)
        names = output_names(child.schema.names)
        outputs = list(zip(child.schema.names, names, strict=True))
        query = block.finished(outputs)
        if isinstance(query, StreamFunction):  # they are not written around each other
            query = block.select(outputs)
        return self._around(stream_call(kind, query), child, list(child.schema.names), names)

    _istream = _dstream = _rstream = _stream

    # Groups, and the first rows

    def _aggregate(self, plan: Aggregate) -> Block:
        block = self.block(plan.child)
        if block.group is not None or block.is_closed:
            block = self._wrapped(block, plan.child)
        found = {key: block.said(column(key, plan.schema[key])) for key in plan.keys}
        block.group = list(found.values())
        for call in plan.calls:
            if call.weights or call.parts:
                raise CannotSay("SQL has no words for weighted aggregates", help="remove weights")
            argument = None
            if call.argument is not None:
                kind = plan.child.schema[call.argument]
                argument = block.said(column(call.argument, kind))
            found[call.name] = aggregate_call(call.function, argument, call.distinct)
        block.columns, block.is_bare, block.is_rows = found, False, False
        return block

    def _topk(self, plan: TopK) -> Block:
        block = self._selecting(plan.child)
        if block.limit is not None or block.shed is not None:
            block = self._wrapped(block, plan.child)
        # The order of columns decides among equal rows, and Aggregates have keys first.
        block.columns = {name: block.columns[name] for name in plan.schema.names}
        block.order = [(block.columns[key.column], _ordered(key)) for key in plan.order]
        block.limit, block.offset = plan.limit, plan.offset
        if plan.approximate is not None:
            usual = plan.approximate == CONFIDENCE
            given = {} if usual else {"confidence": exp.Literal.number(f"{plan.approximate:g}")}
            block.approximate = Approximate(**given)
        block.is_bare = False
        return block

    # Two inputs

    def _join(self, plan: Conditional) -> Block:
        left, right = self._open(plan.left), self._open(plan.right)
        if any(entry.kind in ("RIGHT", "FULL") for entry in right.entries):
            right = self._wrapped(right, plan.right)
        return self._together(left, right, plan)

    def _together(self, left: Block, right: Block, plan: Conditional) -> Block:
        both = Block(left.entries + right.entries, {**left.columns, **right.columns})
        both.where, both.equal = left.where + right.where, left.equal + right.equal
        both.equal += [both.said(part) for part in conjuncts(plan.condition)]
        both.is_bare = both.is_rows = False
        return both

    def _open(self, plan: Plan) -> Block:
        block = self.block(plan)
        return block if block.is_open else self._wrapped(block, plan)

    def _semijoin(self, plan: Conditional) -> Block:
        block, other = self._open(plan.left), self._open(plan.right)
        columns = {**block.columns, **other.columns}
        inside = Block(other.entries, columns, other.where, other.equal)
        inside.where = [*other.where, *(inside.said(part) for part in conjuncts(plan.condition))]
        inside.columns = {"1": exp.Literal.number(1)}
        inside.is_bare = False
        exists: exp.Expr = exp.Exists(this=_one(inside))
        if type(plan).__name__ == "AntiJoin":
            exists = exp.Not(this=exists)
        block.where.append(exists)
        block.is_bare = block.is_rows = False
        return block

    _antijoin = _semijoin

    def _union(self, plan: Union) -> Block:
        if (found := outer_join(plan)) is None:
            return self._set_operation(plan)
        left, right, condition, kind = found
        one, other = self._open(left), self._open(right)
        if kind != "LEFT" and (one.where or one.equal or not _is_plain(one)):
            one = self._wrapped(one, left)
        if other.where or other.entry is None or not _is_plain(other):
            other = self._wrapped(other, right)
        both = Block(one.entries + other.entries, {**one.columns, **other.columns})
        both.where, both.equal = one.where, one.equal
        other.entries[0].kind = kind
        other.entries[0].on = [both.said(part) for part in conjuncts(condition)]
        both.is_bare = both.is_rows = False
        return both

    def _setoperation(self, plan: SetOperation) -> Block:
        if isinstance(plan, StrictDifference):
            return self._without(plan)
        if type(plan).__name__ == "MaxUnion":
            return self.block(Union(plan.left, Difference(plan.right, plan.left)))
        return self._set_operation(plan)

    def _set_operation(self, plan: SetOperation, distinct: bool = False) -> Block:
        names = output_names(plan.schema.names)
        sides = [_operand(self.query(side, names)) for side in plan.children]
        kind = _SETS["Difference" if isinstance(plan, StrictDifference) else type(plan).__name__]
        query = kind(this=sides[0], expression=sides[1], distinct=distinct)
        return self._around(query, plan, list(plan.schema.names), names)

    def _without(self, plan: StrictDifference) -> Block:
        """Rows that the right side does not have at all: NULLs are equal here."""
        block, other = self._open(plan.left), self._open(plan.right)
        equal = [
            equality(column(f"l.{f.name}", f.type), column(f"r.{f.name}", f.type), null_safe=True)
            for f in plan.schema
        ]
        columns = {f"l.{name}": node for name, node in block.columns.items()}
        columns |= {f"r.{name}": node for name, node in other.columns.items()}
        inside = Block(other.entries, columns, other.where, other.equal)
        inside.where = [*other.where, *(inside.said(part) for part in equal)]
        inside.columns = {"1": exp.Literal.number(1)}
        inside.is_bare = False
        block.where.append(exp.Not(this=exp.Exists(this=_one(inside))))
        block.is_bare = block.is_rows = False
        return block

    # Streams that meet through a relation

    def _starjoin(self, plan: StarJoin) -> Block:
        parts = [self._open(child) for child in plan.children]
        columns = {name: node for part in parts for name, node in part.columns.items()}
        block = Block([entry for part in parts for entry in part.entries], columns)
        block.where = [node for part in parts for node in part.where]
        block.equal = [node for part in parts for node in part.equal]
        block.equal += [block.said(part) for part in conjuncts(plan.condition)]
        block.is_bare = block.is_rows = False
        block.shed = self._shed(plan, block)
        return block

    def _shed(self, plan: StarJoin, block: Block) -> Shed:
        shedding = plan.shedding
        given = [name for name in shedding.importances if name is not None]
        importances = [block.columns[name].copy() for name in given]
        numbers = {"ALPHA": shedding.alpha, "BETA": shedding.beta, "SEED": shedding.seed}
        used = {"DGL": ("ALPHA", "BETA"), "RANDOM": ("SEED",)}.get(shedding.policy.name, ())
        parameters = [
            exp.Kwarg(this=exp.to_identifier(name), expression=_number(numbers[name]))
            for name in used
        ]
        return Shed(
            rows=exp.Literal.number(shedding.rows),
            expressions=importances,
            policy=shedding.policy.name,
            parameters=parameters,
        )


def _column(alias: str, name: str) -> exp.Column:
    return exp.column(identifier(name), table=identifier(alias))


def _rows(number: int) -> RowCount:
    return RowCount(this=exp.Literal.number(number))


def _number(value: float) -> exp.Expr:
    return exp.Literal.number(f"{value:.17g}")


def _has_clause(node: exp.Expr, clause: str) -> bool:
    if clause == "granularity":
        return bool(node.args.get("granularity"))
    return bool(node.args.get("stream_window") or node.args.get("granularity"))


def _ordered(key: SortKey) -> exp.Ordered:
    return exp.Ordered(desc=key.descending or None, nulls_first=key.nulls_first)


def _size(node: exp.Expr) -> int:
    return sum(1 for _ in node.walk())


def _items(plan: Project, block: Block) -> dict[str, exp.Expr]:
    """The columns of a projection, but for those of the engine's own that it only hands on."""
    handed = {name for name, s in plan.items if s.is_column and s.node.name not in block.columns}
    return {name: block.said(s) for name, s in plan.items if name not in handed}


def _is_plain(block: Block) -> bool:
    """Whether padding its rows with NULL gives NULL in every column."""
    return all(isinstance(node, exp.Column) for node in block.columns.values())


def _keeps_rows(plan: Project, block: Block) -> bool:
    """Whether a projection of what was made distinct, or cut, changes nothing about that."""
    if not all(scalar.is_column for _, scalar in plan.items):
        return False
    kept = [scalar.node.name for _, scalar in plan.items]
    names = list(block.columns)
    if len(set(kept)) != len(kept) or [name for name in names if name in kept] != kept:
        return False
    dropped = [block.columns[name] for name in names if name not in kept]
    ordered = [node for node, _ in block.order]
    return not dropped or (not block.distinct and all(node in ordered for node in dropped))


def _operand(query: exp.Expr) -> exp.Expr:
    alone = isinstance(query, exp.Select) and not any(
        query.args.get(clause) for clause in ("order", "limit", "shed")
    )
    return query if alone or not isinstance(query, exp.Query) else exp.Subquery(this=query)


def _one(block: Block) -> exp.Expr:
    query = block.select([("1", "1")], qualified=True)
    query.set("expressions", [exp.Literal.number(1)])
    return query
