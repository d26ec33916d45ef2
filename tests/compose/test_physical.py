"""Physical plans that are composed: real fields of operators, with types checked."""

import pytest

from tests.compose.world import checked, node, one_line
from tidemill.compose import operators

BID = node("bid", "source", source="bid")
RECENT = node("recent", "time_window", "bid", size="5")
ASK = node("ask", "source", source="ask", columns="item")
BLOCKED = node("blocked", "source", source="blocked")
CATEGORY = node("category", "source", source="category")

RIGHT = {
    "columns that are read": (
        [ASK],
        "01 ProjectExec [item := ask.item]\n02   SourceExec ask columns=[item]",
        "SELECT item FROM ask",
    ),
    "a join by hash": (
        [
            *(BID, RECENT, ASK),
            node("j", "join", "recent", "ask", keys="bid.item = ask.item", condition="price > 1"),
        ],
        "01 ProjectExec [item := bid.item, price := bid.price, item_2 := ask.item]\n"
        "02   JoinExec keys=[bid.item = ask.item] where bid.price > 1\n"
        "03     TimeWindowExec range=5\n"
        "04       SourceExec bid columns=[item, price]\n"
        "05     SourceExec ask columns=[item]",
        "SELECT bid.item, bid.price, ask.item AS item_2 FROM bid WINDOW(RANGE 5) JOIN ask"
        " ON bid.item = ask.item WHERE bid.price > 1",
    ),
    "a lookup when rows come": (
        [
            BID,
            BLOCKED,
            node("l", "lookup", "bid", "blocked", kind="anti", condition="bid.item = blocked.item"),
            node("w", "time_window", "l", size=3),
        ],
        "01 ProjectExec [item := bid.item, price := bid.price]\n"
        "02   TimeWindowExec range=3\n"
        "03     LookupExec anti changing keys=[bid.item = blocked.item]\n"
        "04       SourceExec bid columns=[item, price]\n"
        "05       SourceExec blocked columns=[item, reason, #id] changing",
        "SELECT item, price FROM ( SELECT item, price FROM bid WHERE NOT EXISTS("
        " SELECT 1 FROM blocked WHERE bid.item = blocked.item ) ) AS bid_2 WINDOW(RANGE 3)",
    ),
    "a relation as rows that hold for a while": (
        [BLOCKED, node("v", "versions", "blocked")],
        "01 ProjectExec [item := blocked.item, reason := blocked.reason]\n"
        "02   VersionsExec by=blocked.#id\n"
        "03     SourceExec blocked columns=[item, reason, #id] changing",
        "SELECT item, reason FROM blocked",
    ),
    "rows that are merged": (
        [
            *(BID, RECENT),
            node("g", "aggregate", "recent", aggregates="MAX(price) AS m"),
            node("c", "coalesce", "g", most="9"),
        ],
        "01 CoalesceExec max_length=9\n"
        "02   AggregateExec [m := MAX(bid.price)]\n"
        "03     TimeWindowExec range=5\n"
        "04       SourceExec bid columns=[item, price]",
        "SELECT MAX(price) AS m FROM bid WINDOW(RANGE 5)",
    ),
    "what SQL cannot say": (
        [*(BID, RECENT), node("d", "distinct", "recent", keys="item")],
        "01 ProjectExec [item := bid.item, price := bid.price]\n"
        "02   DistinctExec by=[bid.item]\n"
        "03     TimeWindowExec range=5\n"
        "04       SourceExec bid columns=[item, price]",
        None,
    ),
}


@pytest.mark.parametrize("title", RIGHT)
def test_right(title):
    nodes, plan, sql = RIGHT[title]
    found = checked(*nodes, level="physical")
    assert not found.errors
    assert str(found.plan) == plan
    assert one_line(found.sql) == (sql or "")
    assert (found.sql_reason is None) == (sql is not None)
    assert found.query is not None
    assert found.query.is_fixed


WRONG = {
    "a window over rows that hold on": (
        [*(BID, RECENT), node("w", "count_window", "recent", rows=3)],
        ("w", None, 0, "the rows of the input hold longer than an instant"),
    ),
    "changes taken for rows": (
        [BLOCKED, node("d", "distinct", "blocked")],
        ("d", None, 0, "the input has changes of a relation, not rows with a validity"),
    ),
    "changes at the end": (
        [BLOCKED],
        (
            "blocked",
            None,
            None,
            "the result has changes of a relation, not rows that hold for a while",
        ),
    ),
    "a lookup in a stream": (
        [BID, ASK, node("l", "lookup", "bid", "ask")],
        ("l", None, 1, "rows can only be looked up in a relation"),
    ),
    "a lookup that comes too early": (
        [*(BID, RECENT, BLOCKED), node("l", "lookup", "recent", "blocked")],
        (
            "l",
            None,
            0,
            "rows of the left input hold longer than an instant, and the relation changes",
        ),
    ),
    "keys of different types": (
        [BID, ASK, node("j", "join", "bid", "ask", keys="bid.price = ask.item")],
        ("j", "keys", None, "the columns have different types: BIGINT and STRING"),
    ),
    "keys of one side": (
        [BID, ASK, node("j", "join", "bid", "ask", keys="bid.price = price")],
        ("j", "keys", None, "both columns are of one input"),
    ),
    "a key that compares nothing": (
        [BID, ASK, node("j", "join", "bid", "ask", keys="price > 1")],
        ("j", "keys", None, "a key compares columns of inputs"),
    ),
    "orders that are none": (
        [BID, ASK, node("j", "join", "bid", "ask", orders="0 1")],
        ("j", "orders", None, "Orders takes, for each input, the order of all inputs"),
    ),
    "a derived stream": (
        [node("s", "source", source="dear")],
        ("s", "source", None, "`dear` is derived, not a source"),
    ),
    "a column that is not there": (
        [node("s", "source", source="bid", columns="itm")],
        ("s", "columns", None, "unknown column `itm`"),
    ),
}


@pytest.mark.parametrize("title", WRONG)
def test_wrong(title):
    nodes, expected = WRONG[title]
    first = checked(*nodes, level="physical").errors[0]
    assert (first.node, first.setting, first.input, first.message) == expected
    assert first.help


def test_every_operator_tells_what_it_does():
    for operator in operators("physical"):
        assert operator["summary"].endswith(".")
        for setting in operator["settings"]:
            assert setting["help"].endswith(".")
            assert setting["example"]
