"""Haghani and others, Tables 3 and 4: a Web log, by the number of servers and the window."""

from __future__ import annotations

from experiments.frame import Page, options  # isort: split

import numpy as np

from experiments.ranking.compare import Pair, beside
from experiments.ranking.evaluate import Question
from experiments.ranking.incomplete import Arrivals
from experiments.ranking.printed import BY_SERVERS, BY_WINDOW
from experiments.ranking.weblog import INTERVAL, WebSite

LIMIT = 20
SEED = 1

AGREEMENT = """The data is made, and how the text made bytes values from 0 to 1 is not known:
    only how things change can be compared. In that we agree. The exact algorithm keeps more the
    more servers there are, and nearly in proportion to W; the approximate one grows with the
    servers, and little with W (212 to 255; the text: 80 to 81), so that its share falls as W
    grows (0.81 to 0.57; the text: 0.37 to 0.20). Precision is 0.97 and more, in the text 0.92
    to 0.97. That two exact sizes of the text are exactly W/2 we cannot see here: ours are
    above. More than one row in a hundred is as large as the line allows, so that some of the
    first objects are equal, and their order is that of their ids."""


def main() -> None:
    asked = options(__doc__)
    page = Page("topk_weblog", "Tables 3 and 4: a Web log", asked)
    page.words(
        f"""Which {LIMIT} clients load the most bytes, from all servers together? The log is
        generated in the shape of that of the World Cup of 1998 (see `ranking/weblog.py` for what
        it is made of, and why), and aggregated per client and server over {INTERVAL:,} ms. A client
        that comes again in the same stream is another client, as in the text. Windows count rows of
        all streams. Sizes are instances, *precision* is the share of the true first {LIMIT} that
        is found, *error* the mean difference of scores, place by place; means of 50 evaluations,
        every row a tick of its own. The approximate algorithm counts all of what is likely to
        come, as the text defines it."""
    )
    page.section("The data")
    _shape(page)
    scale = 5 if asked.quick else 1
    page.section("Table 3: W = 500")
    servers = [_pair(number, 500 // scale) for number in BY_SERVERS]
    beside(page, "servers", BY_SERVERS, {"ours": servers}, "topk_table3")
    page.section("Table 4: two servers")
    windows = [_pair(2, window // scale) for window in BY_WINDOW]
    beside(page, "W", BY_WINDOW, {"ours": windows}, "topk_table4")
    page.words(AGREEMENT)
    page.write()


def _pair(servers: int, window: int) -> Pair:
    return Pair.of(
        lambda rows: WebSite(servers).arrivals(rows, SEED), Question(servers, window, LIMIT)
    )


def _shape(page: Page) -> None:
    rows = []
    for servers in BY_SERVERS:
        site = WebSite(servers)
        log, arrivals = site.requests(3600, SEED), site.arrivals(20_000, SEED)
        requests = log["client"].value_counts(sort=True)["count"]
        busiest = requests.head(len(requests) // 100).sum() / log.height
        median, high = np.quantile(arrivals.value, [0.5, 0.99])
        rows.append([servers, 100 * busiest, *_meeting(arrivals, 500), float(median), float(high)])
    columns = ["servers", "requests of the busiest 1 % of clients, %", "in several streams, %"]
    columns += ["new since the last window, %", "median of values", "99 % of values are below"]
    page.table(columns, rows)


def _meeting(rows: Arrivals, window: int) -> tuple[float, float]:
    """Of the objects of a window, those in several streams, and those not seen before."""
    several, fresh = [], []
    for begin in range(window, len(rows) - window, window):
        now, counts = np.unique(rows.id[begin : begin + window], return_counts=True)
        before = rows.id[begin - window : begin]
        several.append(np.mean(counts > 1))
        fresh.append(1 - np.isin(now, before).mean())
    return 100 * float(np.mean(several)), 100 * float(np.mean(fresh))


if __name__ == "__main__":
    main()
