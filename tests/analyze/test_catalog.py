from __future__ import annotations

import pyarrow as pa
import pytest

from tests.analyze.world import catalog, plan
from tidemill.algebra import Schema
from tidemill.catalog import Catalog, SourceInfo
from tidemill.errors import CatalogError
from tidemill.timeline import TimeDomain


def test_names_ignore_case() -> None:
    assert catalog().lookup("BID").name == "bid"


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(CatalogError, match="unknown stream or relation `bidd`") as caught:
        catalog().lookup("bidd")
    known = "auction, bid, category, east, north, offer, person, south, trade"
    assert caught.value.help == f"did you mean `bid`? known: {known}"


def test_an_empty_catalog_says_how_to_fill_it() -> None:
    with pytest.raises(CatalogError) as caught:
        Catalog().lookup("bid")
    assert caught.value.help is not None
    assert "CREATE STREAM" in caught.value.help


def test_a_name_is_taken_once() -> None:
    with pytest.raises(CatalogError, match="stream `bid` already exists") as caught:
        catalog().add_source(SourceInfo("Bid", Schema.of(x=pa.int64())))
    assert caught.value.help == "choose another name, or DROP STREAM bid first"


def test_drop_is_refused_while_something_depends_on_it() -> None:
    known = catalog()
    plan("CREATE STREAM high AS SELECT item FROM bid WHERE price > 100", known)
    planned = plan("SELECT h.item FROM high h, auction a WHERE a.item = h.item", known)
    assert planned.depends_on == {"high", "auction"}
    known.hold("q1", planned.depends_on)
    known.hold("q2", {"HIGH"})

    with pytest.raises(CatalogError, match="cannot drop stream `bid`: `high` depends on it"):
        known.drop("Bid")
    with pytest.raises(CatalogError, match="cannot drop stream `high`: `q1`, `q2` depend on it"):
        known.drop("high")

    known.release("q1")
    known.release("q2")
    known.drop("high")
    known.drop("bid")
    assert known.find("bid") is None


def test_drop_of_an_unknown_name() -> None:
    with pytest.raises(CatalogError, match="unknown stream or relation `auktion`"):
        catalog().drop("auktion")


@pytest.mark.parametrize(
    ("sql", "domain"),
    [
        ("SELECT item FROM bid", TimeDomain.TICKS),
        ("SELECT symbol FROM trade t, category c WHERE t.symbol = c.name", TimeDomain.MICROSECONDS),
        ("SELECT name FROM category", None),
    ],
)
def test_the_time_of_a_query(sql: str, domain: TimeDomain | None) -> None:
    assert plan(sql).domain is domain
