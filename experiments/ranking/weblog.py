"""Requests to a busy Web site in the shape of the WorldCup98 log, aggregated as the text does.

The log itself is not at hand. What decides about rankings is its shape; each part of it is a
parameter, with a reason:

- `rate`, 20 requests per second and server. The log has 1.35 thousand million requests in 88 days,
  178 per second, on some 30 servers: 6 per second and server, several times as many in busy hours.
- `skew`, the exponent of Pareto's law for the pages that a client looks at, 1.2: most look at one
  or two, few (the proxies of whole companies among them) at hundreds, so that few of the clients
  make most of the requests, as in all logs of popular sites.
- `objects` and `think`: a page comes with its pictures, six requests within a second, then the
  client reads for 15 s. So requests come in bursts, and an interval of 5 s mostly holds all of one.
- Churn follows from these: clients come one after another all the time, and leave after their last
  page. None returns: who comes back after long counts as another one, as in the text.
- `median` and `tail`: bytes are lognormal, but one object in twenty (films, archives) is large, by
  Pareto's law with exponent 1.3: heavy tails, as all logs have them. One request in ten is answered
  by "not modified", without bytes.
- `line`, 80 kB: what a line of that time (ISDN, 128 kbit/s) carried in an interval. A row has no
  more, and this becomes 1. The text does not say how it made bytes values from 0 to 1. Divided by
  the largest of a heavy tail, nearly all would be 0, and a server that has not yet seen a client
  could bring more than all the others have: nothing could be pruned by what is likely.
- `shared`, 8: the servers of one place, between which a balancer shares the requests of a client.
  Streams are some of these, as the text takes two to four of them. It decides how often a client is
  seen in several streams.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from experiments.ranking.incomplete import Arrivals

INTERVAL = 5000  # ms, over which requests are aggregated
WARM_UP = 600  # seconds before the log begins, so that some clients have been there for long


@dataclass(frozen=True)
class WebSite:
    """How a site is used; rates per second, times in seconds, sizes in bytes."""

    servers: int = 2
    rate: float = 20.0
    skew: float = 1.2
    objects: float = 6.0
    think: float = 15.0
    median: float = 2000.0
    tail: float = 1.3
    line: float = 80_000.0
    shared: int = 8

    def arrivals(self, rows: int, seed: int) -> Arrivals:
        """So many rows of the aggregated log."""
        found = aggregated(self.requests(10 * rows / (self.rate * self.servers), seed), self.line)
        assert len(found) >= rows, "requests make fewer rows than a tenth of their number"
        return Arrivals(found.stream[:rows], found.id[:rows], found.value[:rows])

    def requests(self, seconds: float, seed: int) -> pl.DataFrame:
        """The log: `ms`, `client`, `server` and `bytes`, in order of time.

        >>> log = WebSite(servers=3).requests(600, seed=1)
        >>> log.columns, sorted(log["server"].unique())
        (['ms', 'client', 'server', 'bytes'], [0, 1, 2])
        """
        random = np.random.default_rng(seed)
        client = self._pages(random, seconds)
        start = random.uniform(-WARM_UP, seconds, client[-1] + 1)
        at = start[client] + _since_first(client, random.exponential(self.think, len(client)))
        page = np.repeat(np.arange(len(client)), random.geometric(1 / self.objects, len(client)))
        ms = 1000 * (at[page] + random.random(len(page)))
        log = {
            "ms": ms.astype(np.int64),
            "client": client[page],
            "server": random.integers(0, self.shared, len(page)),
            "bytes": self._bytes(random, len(page)),
        }
        seen = pl.col("ms").is_between(0, 1000 * seconds) & (pl.col("server") < self.servers)
        return pl.DataFrame(log).filter(seen).sort("ms")

    def _pages(self, random: np.random.Generator, seconds: float) -> np.ndarray:
        """The client of every page; those of one client stand together."""
        wanted = self.rate * self.shared * (seconds + WARM_UP) / self.objects
        numbers = (1 + random.pareto(self.skew, int(wanted))).astype(np.int64)
        clients = 1 + int(np.searchsorted(np.cumsum(numbers), wanted))
        return np.repeat(np.arange(clients), numbers[:clients])

    def _bytes(self, random: np.random.Generator, count: int) -> np.ndarray:
        usual = random.lognormal(np.log(self.median), 1.4, count)
        large = 10 * self.median * (1 + random.pareto(self.tail, count))
        chance = random.random(count)
        return np.select([chance < 0.05, chance < 0.15], [large, np.zeros(count)], usual).round()


def aggregated(log: pl.DataFrame, line: float) -> Arrivals:
    """The bytes of each client and server in an interval as one row, as a part of the line.

    A client that a stream has had before becomes another one: the second time in any stream it is
    its second self, and so on. So the selves of a client meet in different streams, as it did.
    """
    interval = pl.col("ms") // INTERVAL
    rows = (
        log.group_by("server", "client", interval=interval)
        .agg(pl.col("bytes").sum(), pl.col("ms").max())
        .sort("interval", "ms", "server", "client")
        .with_columns(time=pl.int_range(pl.len()).over("server", "client"))
    )
    selves = pl.struct("client", "time").rank("dense").cast(pl.Int64)
    rows = rows.with_columns(id=selves, value=(pl.col("bytes") / line).clip(0, 1))
    return Arrivals(rows["server"].to_numpy(), rows["id"].to_numpy(), rows["value"].to_numpy())


def _since_first(groups: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The sum of the gaps before each member of a group; the members stand together."""
    before = np.cumsum(gaps) - gaps
    first = np.concatenate([[True], groups[1:] != groups[:-1]])
    return before - before[first][np.cumsum(first) - 1]
