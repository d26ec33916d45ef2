"""An auction house that never closes: its streams in real time, and eight questions about them."""

from __future__ import annotations

import random
import time
from bisect import insort
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

from tidemill.nexmark.generate import (
    AUCTIONS_PER_PERSON,
    BEGINNING,
    BIDS_PER_AUCTION,
    FIRST_ITEM,
    LONGEST_AUCTION,
    MICROSECONDS_PER_BID,
    STREAMS,
)
from tidemill.nexmark.queries import QUERIES
from tidemill.server.incoming import from_json
from tidemill.server.service import Service
from tidemill.server.statements import Scripts
from tidemill.sql import CreateDerived, CreateStream, parse

BIDS_PER_SECOND = 200
"""On the clock; the time of the streams runs so much faster that their rates are as ever."""

_PAUSE = 0.1
_SHORTEST = 60_000_000

_STREAMS = """
CREATE STREAM person (id BIGINT, name STRING, ts TIMESTAMP) ORDERED BY ts;
CREATE STREAM open_auction (item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP)
ORDERED BY ts;
CREATE STREAM closed_auction (item BIGINT, ts TIMESTAMP) ORDERED BY ts;
CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP) ORDERED BY ts
"""
_EIGHT = tuple(name for name in QUERIES if name.startswith("q"))

Row = dict[str, Any]


class DemoHouse:
    """The same auctions for the same seed, in the order of time, for ever."""

    def __init__(self, seed: int = 1) -> None:
        self._dice = random.Random(seed)
        self._bids = self._auctions = self._persons = 0
        self._open: list[tuple[int, int, float]] = []  # when it closes, the item, its price

    def until(self, instant: int) -> dict[str, list[Row]]:
        """What happens before an instant, and did not happen yet, by stream."""
        rows: dict[str, list[Row]] = {name: [] for name in STREAMS}
        while (at := BEGINNING + self._bids * MICROSECONDS_PER_BID) < instant:
            self._register(at, rows)
            self._close(at, rows)
            self._bid(at, rows)
        return rows

    def _register(self, at: int, rows: dict[str, list[Row]]) -> None:
        """People and auctions come at their rates."""
        if self._bids % (BIDS_PER_AUCTION * AUCTIONS_PER_PERSON) == 0:
            name = f"person {self._persons}"
            rows["person"].append({"id": self._persons, "name": name, "ts": at})
            self._persons += 1
        if self._bids % BIDS_PER_AUCTION == 0:
            price = round(1 + self._dice.random() ** 2 * 499, 2)
            item, seller = FIRST_ITEM + self._auctions, self._newcomer()
            rows["open_auction"].append(
                {"item": item, "seller": seller, "start_price": price, "ts": at}
            )
            share = self._dice.random()
            ends = at + _SHORTEST + int(share * share * (LONGEST_AUCTION - _SHORTEST))
            insort(self._open, (ends, item, price))
            self._auctions += 1

    def _newcomer(self) -> int:
        """Someone who has registered, rather lately than not."""
        share = self._dice.random()
        return self._persons - 1 - int(share * share * min(self._persons, 1000))

    def _close(self, at: int, rows: dict[str, list[Row]]) -> None:
        while self._open and self._open[0][0] <= at:
            ends, item, _ = self._open.pop(0)
            rows["closed_auction"].append({"item": item, "ts": ends})

    def _bid(self, at: int, rows: dict[str, list[Row]]) -> None:
        """A bid on one of the open auctions, rather on one that closes soon."""
        self._bids += 1
        if not self._open:
            return
        chosen = int(self._dice.random() ** 3 * len(self._open))
        ends, item, price = self._open[chosen]
        price = round(price * (1 + self._dice.random() / 20) + 0.01, 2)
        self._open[chosen] = (ends, item, price)
        rows["bid"].append({"item": item, "price": price, "bidder": self._newcomer(), "ts": at})


def scripts() -> Iterator[str]:
    """The statements that make the queries, each once."""
    made: set[str] = set()
    for name in _EIGHT:
        for statement in parse(QUERIES[name].script("")):
            if isinstance(statement, CreateStream):
                continue
            if not isinstance(statement, CreateDerived):
                yield f"CREATE QUERY {name} AS\n{statement.sql}"
            elif statement.name not in made:
                made.add(statement.name)
                yield statement.sql


class Demo:
    """Feeds the streams of a service, in a thread of its own."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._house = DemoHouse()
        self._past, self._began = 0, 0.0
        self._stopping = Event()
        self._thread = Thread(target=self._feed, name="tidemill-demo", daemon=True)

    def start(self) -> None:
        """Open the house. What happens in the first second is there at once."""
        come = self._service.graph.newest
        self._past = max(come.values(), default=0)
        # Begin after what the streams have brought already.
        for name, rows in self._house.until(self._past).items():
            self.push(name, [row for row in rows if row["ts"] >= come.get(name, 0)])
        self._began = time.monotonic() - 1.0
        self._go_on()
        self._thread.start()

    def stop(self) -> None:
        """Close it."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _feed(self) -> None:
        while not self._stopping.wait(_PAUSE):
            self._go_on()

    def _go_on(self) -> None:
        """Come to where the clock is."""
        passed = (time.monotonic() - self._began) * BIDS_PER_SECOND * MICROSECONDS_PER_BID
        for name, rows in self._house.until(max(self._past, BEGINNING) + int(passed)).items():
            self.push(name, rows)

    def push(self, name: str, rows: list[Row]) -> None:
        """Push what happens; streams that somebody has dropped stay quiet."""
        if rows and self._service.engine.catalog.find(name) is not None:
            info = self._service.source(name)
            self._service.engine.push(name, from_json(rows, info))


def open_house(service: Service) -> Demo:
    """Make the streams and start the queries, unless a restart has brought them back."""
    known = {each.name for each in service.engine.listing()}
    with service.graph.together():
        for statement in parse(";\n".join((_STREAMS, *scripts()))):
            if getattr(statement, "name", None) not in known:
                Scripts(service).run(statement.sql)
        for query in _EIGHT:
            if query not in known:
                Scripts(service).run(f"START QUERY {query}")
    return Demo(service)
