"""What the parts of one planning share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Plan
from tidemill.catalog.catalog import Catalog
from tidemill.catalog.hints import Hints
from tidemill.errors import PlanError, PlanWarning
from tidemill.sql import HintCall, error_at
from tidemill.timeline import TimeDomain

_TIME = {TimeDomain.TICKS: "integer time", TimeDomain.MICROSECONDS: "TIMESTAMP time"}


@dataclass(frozen=True)
class CommonTable:
    """A query of a WITH clause, and what it could see itself.

    One that is not declared in a subquery sees no columns of the place where it is used.
    """

    tree: exp.Expr
    visible: dict[str, CommonTable]
    sees_around: bool


@dataclass
class Context:
    """The catalog, and what is found out about a query on the way."""

    catalog: Catalog
    warnings: list[PlanWarning] = field(default_factory=list)
    depends_on: set[str] = field(default_factory=set)
    common_tables: dict[str, CommonTable] = field(default_factory=dict)
    origins: dict[Plan, exp.Expr] = field(default_factory=dict)  # where windows were written
    hints: Hints = field(default_factory=Hints)
    told_of: dict[str, exp.Expr] = field(default_factory=dict)  # where SELECTIVITY was written
    domain: TimeDomain | None = None
    _decided: dict[str, exp.Expr] = field(default_factory=dict)
    _timed_by: str = ""
    _used: Counter[str] = field(default_factory=Counter)

    def fresh(self, prefix: str) -> str:
        """A column name that nothing else in the plan has.

        >>> context = Context(Catalog())
        >>> context.fresh("key"), context.fresh("key")
        ('key1', 'key2')
        """
        self._used[prefix] += 1
        return f"{prefix}{self._used[prefix]}"

    def trial(self) -> Context:
        """A context for planning something whose plan will be thrown away."""
        return Context(
            self.catalog,
            common_tables=dict(self.common_tables),
            domain=self.domain,
            _timed_by=self._timed_by,
            _used=Counter(self._used),
        )

    @contextmanager
    def seeing(self, tables: dict[str, CommonTable]) -> Iterator[None]:
        """Plan something with these queries of WITH in sight."""
        before, self.common_tables = self.common_tables, tables
        try:
            yield
        finally:
            self.common_tables = before

    def warn(self, message: str, node: exp.Expr, help: str) -> None:
        """Note something that works but may not be meant."""
        warning = PlanWarning(**error_at(PlanError, message, node, help).fields())
        if warning.fields() not in [known.fields() for known in self.warnings]:
            self.warnings.append(warning)

    def decide(self, matter: str, call: HintCall) -> None:
        """Note a hint that a statement may have only once; a block may be planned several times."""
        first = self._decided.setdefault(matter, call)
        if first.meta["start"] != call.meta["start"]:
            kinds = sorted({first.text("kind"), call.text("kind")})
            message = f"a statement has one hint {' or '.join(kinds)}; this is the second"
            raise error_at(PlanError, message, call, "remove one of the two")

    def use(self, name: str, domain: TimeDomain | None, node: exp.Expr) -> None:
        """Note that the query reads a source or derived stream, which has this time."""
        self.depends_on.add(name)
        if domain is None:
            return
        if self.domain not in (None, domain):
            assert self.domain is not None
            message = f"`{name}` has {_TIME[domain]}, `{self._timed_by}` has {_TIME[self.domain]}"
            help = "use streams of one kind of time in a query"
            raise error_at(PlanError, message, node, help)
        self.domain, self._timed_by = domain, name
