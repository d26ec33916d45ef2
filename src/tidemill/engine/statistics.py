"""What an engine knows about its streams: what it was told, and what runs have seen."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import SourceKind
from tidemill.algebra.scalar import Scalar, column_node, rewrite
from tidemill.catalog import Catalog, SourceInfo
from tidemill.engine.tables import duration
from tidemill.errors import CatalogError, TidemillError, nearest
from tidemill.optimize.conditions import parsed, sources_of
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.timeline import TimeDomain

_MOST_RUNS = 16
"""How many runs add to the statistics; those of older runs stay as they are."""

_SECOND = 1_000_000


class Finding(Protocol):
    """What a run has found out so far."""

    @property
    def statistics(self) -> Statistics: ...


class StatisticsStore:
    """The statistics of an engine. Print it to see them.

    >>> StatisticsStore(Catalog())
    nothing is known yet: run a query, or tell with engine.hint(...)
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._told = Statistics()
        self._seen = Statistics()
        self._runs: deque[Finding] = deque()

    def copy(self, catalog: Catalog) -> StatisticsStore:
        """What is known now, about what a catalog has."""
        other = StatisticsStore(catalog)
        other._told, other._seen = self._told, self.seen
        return other

    @property
    def known(self) -> Statistics:
        """All that is known now, under the names of the sources."""
        return self.with_news(Statistics())

    def with_news(self, news: Statistics) -> Statistics:
        """All that is known, with what was seen just now; what was told still wins."""
        return self._told.over(news).over(self.seen)

    @property
    def seen(self) -> Statistics:
        """What runs have seen; the last one that knows wins."""
        seen = self._seen
        for run in self._runs:
            seen = run.statistics.over(seen)
        return seen

    def of(self, stream: str) -> StreamStatistics:
        """What is known about a stream or relation."""
        return self.known.of(self._catalog.lookup(stream).name)

    def watch(self, run: Finding) -> None:
        """Learn from a run, as long as it goes on."""
        self._runs.append(run)
        if len(self._runs) > _MOST_RUNS:
            self._seen = self._runs.popleft().statistics.over(self._seen)

    def tell(
        self,
        stream: str,
        rate: float | None,
        per: int | str | timedelta | None,
        distinct: Mapping[str, float],
        rows: float | None,
        length: int | str | timedelta | None,
    ) -> None:
        """Keep what the user knows about a source."""
        info = self._source(stream)
        told = StreamStatistics(
            rate=None if rate is None else _positive("rate", rate) / _per(info, per),
            length=None if length is None else _length(info, length),
            rows=None if rows is None else _rows(info, rows),
            distinct={_column(info, name): _positive(name, n) for name, n in distinct.items()},
        )
        self._told = Statistics({info.name: told}).over(self._told)

    def tell_shares(self, shares: Mapping[str, float]) -> None:
        """Keep the shares of rows or pairs that meet conditions, as the user knows them."""
        told = {self._condition(text): _share(text, share) for text, share in shares.items()}
        self._told = Statistics({}, told).over(self._told)

    def forget(self, stream: str) -> None:
        """A source of that name, if another is made, will be another one."""
        self._seen, self._told = _without(self.seen, stream), _without(self._told, stream)
        self._runs.clear()

    def save(self, path: str | Path) -> None:
        """Write what runs have seen to a file; what was told is not in it."""
        Path(path).write_text(json.dumps(asdict(self.seen), indent=1))

    def load(self, path: str | Path) -> None:
        """Read what runs of another process have seen."""
        try:
            stored = json.loads(Path(path).read_text())
            streams = {name: StreamStatistics(**each) for name, each in stored["streams"].items()}
            self._seen = Statistics(streams, stored["selectivities"]).over(self._seen)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            help = "write one with engine.statistics.save(path)"
            raise TidemillError(f"{path} is not a statistics file", help=help) from error

    def __repr__(self) -> str:
        known = self.known
        if known == Statistics():
            return "nothing is known yet: run a query, or tell with engine.hint(...)"
        lines = _table([self._shown(name, known.of(name)) for name in sorted(known.streams)])
        shares = (f"{text}: {share:.3g}" for text, share in sorted(known.selectivities.items()))
        return "\n".join([*lines, *shares])

    def _shown(self, name: str, stream: StreamStatistics) -> dict[str, str]:
        entry = self._catalog.find(name)
        stamps = entry is not None and entry.domain is TimeDomain.MICROSECONDS
        scale, unit, time = (_SECOND, "per second", " s") if stamps else (1, "per instant", "")
        return {
            "stream": name,
            "rate": "" if stream.rate is None else f"{stream.rate * scale:.4g} {unit}",
            "rows": "" if stream.rows is None else f"{stream.rows:.10g}",
            "length": "" if stream.length is None else f"{stream.length / scale:.4g}{time}",
            "granularity": ""
            if stream.granularity is None
            else f"{stream.granularity / scale:.6g}{time}",
            "distinct": ", ".join(f"{c}={_about(n)}" for c, n in sorted(stream.distinct.items())),
        }

    def _source(self, name: str) -> SourceInfo:
        entry = self._catalog.lookup(name)
        if not isinstance(entry, SourceInfo):
            raise CatalogError(
                f"`{entry.name}` is derived: give hints about its sources",
                help=f"it reads {', '.join(sorted(entry.depends_on))}",
            )
        return entry

    def _condition(self, text: str) -> str:
        tree = parsed(text)
        columns = [] if tree is None else list(tree.find_all(exp.Column))
        if tree is None or not columns:
            help = 'for example "bid.price > 10" or "bid.item = ask.item"'
            raise TidemillError(f"`{text}` is not a condition on columns", help=help)
        return str(Scalar(rewrite(tree, lambda node: self._placed(node, text)), pa.bool_()))

    def _placed(self, node: exp.Expr, text: str) -> exp.Expr:
        """A column under the names that the catalog has for it."""
        if not isinstance(node, exp.Column):
            return node
        if not node.table:
            help = f"write the name of the stream before it: bid.{node.name}"
            raise TidemillError(f"`{node.name}` in `{text}` has no stream", help=help)
        info = self._source(node.table)
        return column_node(f"{info.name}.{_column(info, node.name)}")


def _column(info: SourceInfo, name: str) -> str:
    names = [*info.schema.names, *([info.time_column] if info.time_column else [])]
    found = next((each for each in names if each.casefold() == name.casefold()), None)
    if found is None:
        near = nearest(name, names)
        guess = f"did you mean `{near}`? " if near else ""
        help = f"{guess}columns: {', '.join(names)}"
        raise CatalogError(f"`{info.name}` has no column `{name}`", help=help)
    return found


def _positive(what: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        message = f"{what}: {value!r} is not a number greater than zero"
        raise TidemillError(message, help="leave it out if you do not know it")
    return float(value)


def _share(text: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise TidemillError(
            f"{value!r} is not a share of the rows that satisfy `{text}`", help="0 to 1"
        )
    return float(value)


def _per(info: SourceInfo, per: int | str | timedelta | None) -> int:
    if info.domain is None:
        help = "tell how many rows it has: rows=..."
        raise CatalogError(f"`{info.name}` is constant and has no rate", help=help)
    default = 1 if info.domain is TimeDomain.TICKS else _SECOND
    return default if per is None else int(_positive("per", duration(per, info.domain)))


def _length(info: SourceInfo, length: int | str | timedelta) -> float:
    if info.kind is not SourceKind.INTERVALS or info.domain is None:
        help = "give streams a length with WINDOW in queries"
        raise CatalogError(f"the rows of `{info.name}` come without a validity", help=help)
    return _positive("length", duration(length, info.domain))


def _rows(info: SourceInfo, rows: float) -> float:
    if info.kind is SourceKind.STREAM:
        help = "tell its rate: rate=..."
        raise CatalogError(f"`{info.name}` is a stream: its rows never end", help=help)
    return _positive("rows", rows)


def _without(statistics: Statistics, stream: str) -> Statistics:
    name = stream.casefold()
    streams = {s: known for s, known in statistics.streams.items() if s.casefold() != name}
    shares = {
        text: share
        for text, share in statistics.selectivities.items()
        if name not in {source.casefold() for source in sources_of(text)}
    }
    return Statistics(streams, shares)


def _about(number: float) -> str:
    """Three digits, as one would say it."""
    return f"{float(f'{number:.3g}'):,.0f}"


def _table(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """The rows under the names of those columns that have something."""
    used = [name for name in (rows[0] if rows else ()) if any(row[name] for row in rows)]
    lines = [used, *([row[name] for name in used] for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(used))]
    for line in lines if used else ():
        yield "  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip()
