"""What the user tells the planner in `/*+ ... */`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Hints:
    """The hints of a query, by the names that its plan has. They never change its answer.

    Statistics, which win over what was measured: `rates` (rows per instant) and `rows` by source,
    `distinct` values by source and column, `selectivities` by condition as plans print it.

    Orders to the planner: `order` is the order in which streams are joined, `early` the streams
    that are aggregated below the join, and `late` tells that none is. They name entries of FROM
    as the plan does: an entry `b` has columns `b.item`. At most one query block of a statement
    has an `order`, and at most one an `early` or a `late`. `rank` is how groups are ranked by a
    score: `eaa`, `sla`, `approximate` (where the query says that it may be), or `plain`.

    >>> both = Hints(rates={"bid": 3.0, "ask": 1.0}).under(Hints(rates={"bid": 5.0}, late=True))
    >>> both.rates, both.late
    ({'bid': 5.0, 'ask': 1.0}, True)
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, float] = field(default_factory=dict)
    distinct: Mapping[tuple[str, str], float] = field(default_factory=dict)
    selectivities: Mapping[str, float] = field(default_factory=dict)
    order: tuple[str, ...] | None = None
    early: frozenset[str] | None = None
    late: bool = False
    rank: str | None = None

    def under(self, winner: Hints) -> Hints:
        """These hints and those of another, which win."""
        decided = winner.late or winner.early is not None
        return replace(
            self,
            rates={**self.rates, **winner.rates},
            rows={**self.rows, **winner.rows},
            distinct={**self.distinct, **winner.distinct},
            selectivities={**self.selectivities, **winner.selectivities},
            order=self.order if winner.order is None else winner.order,
            early=winner.early if decided else self.early,
            late=winner.late if decided else self.late,
            rank=self.rank if winner.rank is None else winner.rank,
        )
