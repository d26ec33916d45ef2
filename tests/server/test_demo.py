"""The auction house of the demo."""

from dataclasses import replace

from tests.server.conftest import SETTINGS
from tidemill.nexmark.generate import BEGINNING, MICROSECONDS_PER_BID
from tidemill.server import begin
from tidemill.server.demo import DemoHouse, open_house

HOUR = 3_600_000_000


def test_the_same_seed_gives_the_same_rows_however_they_are_asked_for():
    at_once = DemoHouse().until(BEGINNING + 6 * HOUR)
    house = DemoHouse()
    parts = [house.until(BEGINNING + hours * HOUR) for hours in range(1, 7)]
    for name, rows in at_once.items():
        assert [row for part in parts for row in part[name]] == rows
        assert [row["ts"] for row in rows] == sorted(row["ts"] for row in rows)
    assert len(at_once["bid"]) == 6 * HOUR // MICROSECONDS_PER_BID
    assert at_once["closed_auction"]


def test_all_eight_queries_answer():
    service = begin(replace(SETTINGS, demo=True))
    demo = open_house(service)
    for name, rows in DemoHouse().until(BEGINNING + 6 * HOUR).items():
        demo.push(name, rows)
    service.graph.tick(2)
    kept = {query.name: service.kept(query.name) for query in service.queries()}
    assert list(kept) == [f"q{number}" for number in range(1, 9)]
    assert all(each.rows for each in kept.values())
    assert open_house(service)  # after a restart, everything is there already
    service.stop()
