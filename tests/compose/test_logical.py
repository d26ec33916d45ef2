"""Logical plans that are composed: what they mean, and what is said of those that are wrong."""

import pytest

from tests.compose.world import checked, node, one_line, world
from tidemill.compose import check, operators

BID = node("bid", "scan", source="bid")
RECENT = node("recent", "time_window", "bid", size="5")
ASK = node("ask", "scan", source="ask")

RIGHT = {
    "what is not named has the names of the stream": (
        [BID, RECENT],
        "SELECT item, price FROM bid WINDOW(RANGE 5)",
    ),
    "a window may stand above a filter": (
        [
            BID,
            node("f", "filter", "bid", condition="price > 1"),
            node("w", "time_window", "f", size=5),
        ],
        "SELECT item, price FROM bid WINDOW(RANGE 5) WHERE price > 1",
    ),
    "but not if rows are counted": (
        [
            BID,
            node("f", "filter", "bid", condition="price > 1"),
            node("w", "count_window", "f", rows=5),
        ],
        "SELECT item, price FROM ( SELECT item, price FROM bid WHERE price > 1 )"
        " AS bid_2 WINDOW(ROWS 5)",
    ),
    "time that is named": (
        [
            node("b", "scan", source="bid", time="as a column"),
            node("p", "project", "b", columns="at, item"),
        ],
        "SELECT at, item FROM bid",
    ),
    "a condition on groups": (
        [
            *(BID, RECENT),
            node("g", "aggregate", "recent", keys=["item"], aggregates=["SUM(price) AS total"]),
            node("h", "filter", "g", condition="total > 10"),
            node("t", "top", "h", order="total DESC", limit=3, offset=1),
        ],
        "SELECT item, SUM(price) AS total FROM bid WINDOW(RANGE 5) GROUP BY item"
        " HAVING SUM(price) > 10 ORDER BY total DESC LIMIT 3 OFFSET 1",
    ),
    "a computed key and an aggregate of some rows": (
        [
            *(BID, RECENT),
            node(
                "g",
                "aggregate",
                "recent",
                keys="price * 2 AS twice",
                aggregates="COUNT(*) FILTER (WHERE price > 3)",
            ),
        ],
        "SELECT price * 2 AS twice, COUNT(CASE WHEN price > 3 THEN 1 END) AS count"
        " FROM bid WINDOW(RANGE 5) GROUP BY price * 2",
    ),
    "an order that is no column": (
        [BID, node("t", "top", "bid", order=["price % 3"], limit=2)],
        "SELECT item, price FROM bid ORDER BY bid.price % 3 LIMIT 2",
    ),
    "joins": (
        [
            *(BID, RECENT, ASK),
            node("j", "join", "recent", "ask", condition="bid.item = ask.item AND ask > price"),
        ],
        "SELECT bid.item, bid.price, ask.item AS item_2, ask.ask FROM bid WINDOW(RANGE 5)"
        " JOIN ask ON bid.item = ask.item AND ask.ask > bid.price",
    ),
    "outer joins": (
        [
            *(BID, RECENT, ASK),
            node("j", "outer_join", "recent", "ask", side="left", condition="bid.item = ask.item"),
            node("p", "project", "j", columns=["price", "ask"]),
        ],
        "SELECT bid.price, ask.ask FROM bid WINDOW(RANGE 5) LEFT JOIN ask ON bid.item = ask.item",
    ),
    "rows without a partner": (
        [*(BID, ASK), node("j", "anti_join", "bid", "ask", condition="bid.item = ask.item")],
        "SELECT item, price FROM bid"
        " WHERE NOT EXISTS( SELECT 1 FROM ask WHERE bid.item = ask.item )",
    ),
    "sets, with types that fit": (
        [BID, ASK, node("u", "union", "bid", "ask"), node("d", "distinct", "u")],
        "SELECT item, price FROM bid UNION SELECT item, ask AS price FROM ask",
    ),
    "rows that come, under a window": (
        [*(BID, RECENT), node("i", "istream", "recent"), node("w", "count_window", "i", rows=2)],
        "SELECT item, price FROM ISTREAM(bid WINDOW(RANGE 5)) AS bid WINDOW(ROWS 2)",
    ),
    "a partitioned window with bounds": (
        [BID, node("w", "partitioned_window", "bid", by="item", rows=9, least=3)],
        "SELECT item, price FROM bid WINDOW(PARTITION BY item ROWS MIN 3, MAX 9)",
    ),
    "granules": (
        [*(BID, RECENT), node("g", "granularity", "recent", granule="4")],
        "SELECT item, price FROM bid WINDOW(RANGE 5) GRANULARITY(4)",
    ),
    "time on the clock": (
        [
            node("t", "scan", source="trade"),
            node("w", "time_window", "t", size="90 seconds", slide="1 MINUTE"),
        ],
        "SELECT symbol, volume FROM trade WINDOW(RANGE 90 SECONDS SLIDE 1 MINUTE)",
    ),
    "a derived stream": (
        [node("d", "scan", source="dear", alias="d")],
        "SELECT item, price FROM dear AS d",
    ),
    "a relation that changes": (
        [
            *(BID, RECENT),
            node("r", "scan", source="blocked"),
            node("j", "semi_join", "recent", "r", condition="bid.item = blocked.item"),
        ],
        "SELECT item, price FROM bid WINDOW(RANGE 5)"
        " WHERE EXISTS( SELECT 1 FROM blocked WHERE bid.item = blocked.item )",
    ),
    "objects of which streams tell": (
        [BID, ASK, node("o", "objects", "bid", "ask", by="item", size=9, columns="price, ask")],
        "SELECT objects.item, bid.price, ask.ask"
        " FROM OBJECTS(bid, ask BY item) AS objects WINDOW(RANGE 9)",
    ),
    "a join that keeps so many rows": (
        [
            *(BID, RECENT, node("c", "scan", source="category")),
            *(ASK, node("asked", "time_window", "ask", size=9)),
            node(
                "j",
                "shed_join",
                "recent",
                "asked",
                "c",
                condition="bid.item = category.id AND ask.item = category.id",
                rows=100,
                importances="price, ask",
                policy="simp",
            ),
            node("p", "project", "j", columns=["price", "ask"]),
        ],
        "SELECT bid.price, ask.ask FROM bid WINDOW(RANGE 5) CROSS JOIN ask WINDOW(RANGE 9)"
        " JOIN category ON bid.item = category.id AND ask.item = category.id"
        " SHED TO 100 ROWS BY bid.price, ask.ask USING simp",
    ),
    "the larger number of copies": (
        [BID, ASK, node("u", "max_union", "bid", "ask")],
        "SELECT item, price FROM bid UNION ALL ( SELECT item, ask AS price FROM ask"
        " EXCEPT ALL SELECT item, price FROM bid AS bid_2 )",
    ),
}


@pytest.mark.parametrize("title", RIGHT)
def test_right(title):
    nodes, sql = RIGHT[title]
    found = checked(*nodes)
    assert not found.errors
    assert one_line(found.sql) == sql


WRONG = {
    "nothing at all": ([], (None, None, "there is no operator yet")),
    "a kind that is none": (
        [BID, node("x", "filtr", "bid")],
        ("x", None, "there is no logical operator `filtr`"),
    ),
    "no input": (
        [node("f", "filter", condition="price > 1")],
        ("f", None, "Filter needs 1 input, it has 0"),
    ),
    "too many inputs": (
        [BID, node("s", "scan", "bid", source="ask")],
        ("s", None, "Scan takes no inputs, it has 1"),
    ),
    "an input that is none": (
        [node("f", "filter", "x", condition="TRUE")],
        ("f", None, "there is no node `x`"),
    ),
    "a circle": (
        [node("a", "distinct", "b"), node("b", "distinct", "a")],
        ("a", None, "the node is part of a circle"),
    ),
    "two nodes of one id": ([BID, BID], ("bid", None, "two nodes have the id `bid`")),
    "several ends": ([BID, ASK], (None, None, "there are several ends: bid, ask")),
    "a setting that is missing": (
        [BID, node("f", "filter", "bid")],
        ("f", "condition", "Condition is missing"),
    ),
    "an unknown stream": (
        [node("s", "scan", source="bidd")],
        ("s", "source", "unknown stream or relation `bidd`"),
    ),
    "an unknown column": (
        [BID, node("f", "filter", "bid", condition="pric > 1")],
        ("f", "condition", "unknown column `pric`"),
    ),
    "the time of a stream": (
        [BID, node("f", "filter", "bid", condition="at > 1")],
        ("f", "condition", "`at` is the time of `bid`, which is not among its columns"),
    ),
    "a type": (
        [BID, node("f", "filter", "bid", condition="item > 1")],
        ("f", "condition", "cannot compare STRING with INT"),
    ),
    "no condition": (
        [BID, node("f", "filter", "bid", condition="price + 1")],
        ("f", "condition", "Filter takes a condition, but `price + 1` is BIGINT"),
    ),
    "half an expression": (
        [BID, node("f", "filter", "bid", condition="price >")],
        ("f", "condition", "the expression is incomplete at its end"),
    ),
    "more than an expression": (
        [BID, node("f", "filter", "bid", condition="TRUE FROM y --")],
        ("f", "condition", None),
    ),
    "a subquery": (
        [BID, node("f", "filter", "bid", condition="price > (SELECT MAX(ask) FROM ask)")],
        ("f", "condition", "a subquery cannot stand in a setting"),
    ),
    "an aggregate of rows": (
        [BID, node("f", "filter", "bid", condition="COUNT(*) > 1")],
        ("f", "condition", "`COUNT` aggregates rows, which a Filter cannot do"),
    ),
    "two columns of one name": (
        [BID, node("p", "project", "bid", columns=["item", "price AS item"])],
        ("p", "columns", "two columns are named `item`"),
    ),
    "a reserved name": (
        [BID, node("p", "project", "bid", columns=["item AS valid_to"])],
        ("p", None, "`valid_to` is a reserved name: every result has it for its validity"),
    ),
    "both inputs the same": (
        [BID, node("j", "join", "bid", "bid")],
        ("j", None, "another input has a column `bid.item`, too"),
    ),
    "an ambiguous column": (
        [BID, ASK, node("j", "join", "bid", "ask", condition="item = 'x'")],
        ("j", "condition", "`item` is ambiguous"),
    ),
    "two kinds of time": (
        [BID, node("t", "scan", source="trade"), node("j", "join", "bid", "t")],
        ("j", None, "the time of its inputs differs: whole numbers, and timestamps here"),
    ),
    "a unit where there is none": (
        [BID, node("w", "time_window", "bid", size="5 MINUTES")],
        ("w", "size", "RANGE has a time unit, but time here is a number of ticks"),
    ),
    "a window over what never changes": (
        [node("c", "scan", source="category"), node("w", "time_window", "c", size=5)],
        ("w", "size", "`category` never changes, so a window has no meaning on it"),
    ),
    "rows that never go": (
        [BID, node("w", "unbounded_window", "bid"), node("d", "dstream", "w")],
        ("d", None, "DSTREAM reports rows that go, but none ever goes here"),
    ),
    "sets of other columns": (
        [
            BID,
            node("t", "scan", source="category"),
            node("p", "project", "t", columns="id"),
            node("u", "union", "bid", "p"),
        ],
        ("u", None, "the first input has 2 columns, this one 1"),
    ),
    "sets of other types": (
        [
            BID,
            node("p", "project", "bid", columns="price, item"),
            node("u", "difference", "bid", "p"),
        ],
        ("u", None, "column `bid.item` is STRING in the first input, BIGINT here"),
    ),
    "no aggregate": (
        [BID, node("g", "aggregate", "bid", aggregates="SUM(price) + 1 AS n")],
        ("g", "aggregates", "this is not one aggregate"),
    ),
    "an aggregate of texts": (
        [BID, node("g", "aggregate", "bid", aggregates="SUM(item)")],
        ("g", "aggregates", "SUM does not take STRING"),
    ),
    "no number": (
        [BID, node("t", "top", "bid", limit="ten")],
        ("t", "limit", "Rows takes a whole number, at least 1"),
    ),
    "no choice": (
        [node("s", "scan", source="bid", time="maybe")],
        ("s", "time", "Time cannot be `maybe`"),
    ),
}


@pytest.mark.parametrize("title", WRONG)
def test_wrong(title):
    nodes, (id, setting, message) = WRONG[title]
    found = checked(*nodes)
    first = found.errors[0]
    assert not found.is_complete
    assert found.sql is None
    assert (first.node, first.setting) == (id, setting)
    assert message is None or first.message == message
    assert first.help


def test_places_are_those_in_the_text_of_the_setting():
    (error,) = checked(
        BID, node("f", "filter", "bid", condition="price > 1 AND\n  pric > 2")
    ).errors
    assert (error.line, error.column, error.length) == (2, 3, 4)


def test_what_is_left_over_and_what_waits():
    lonely = node("x", "scan", source="ask")
    wrong = node("f", "filter", "bid", condition="pric > 1")
    after = node("d", "distinct", "f")
    found = checked(BID, wrong, after, lonely, output="d")
    states = {each["id"]: each["state"] for each in found.to_json()["nodes"]}
    assert states == {"bid": "right", "f": "wrong", "d": "waiting", "x": "right"}
    assert [(e.node, e.message) for e in found.errors[1:]] == [
        ("x", "nothing leads from here to the output")
    ]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            [BID, node("g", "aggregate", "bid", aggregates="COUNT(*)")],
            "its input has no window: this aggregates the rows of a single instant",
        ),
        (
            [BID, ASK, node("j", "join", "bid", "ask")],
            "no input has a window: only rows of the same instant meet",
        ),
        (
            [
                BID,
                node("u", "unbounded_window", "bid"),
                node("t", "top", "u", limit=3),
            ],
            "ORDER BY ... LIMIT keeps every row of this window for ever",
        ),
    ],
)
def test_warnings(nodes, message):
    found = checked(*nodes)
    assert found.is_complete
    assert [warning.message for warning in found.warnings] == [message]


def test_the_examples_of_the_palette_are_right():
    engine = world()
    bids = [node("b", "scan", source="bid", alias="b"), node("w", "time_window", "b", size="9")]
    asks = [node("a", "scan", source="ask", alias="a"), node("v", "time_window", "a", size="9")]
    for operator in operators("logical"):
        if operator["kind"] in ("shed_join", "objects"):  # their examples are about other streams
            continue
        settings = {
            each["name"]: each["example"].replace(" MINUTES", "").replace(" MINUTE", "")
            for each in operator["settings"]
            if each["example"] and "SECOND" not in each["example"]
        }
        settings |= {"granule": "2"} if operator["kind"] == "granularity" else {}
        instants = operator["group"] == "windows"
        inputs = [["b"] if instants else ["w"], ["w", "v"]][operator["inputs"]["min"] == 2]
        inputs = [] if operator["kind"] == "scan" else inputs
        made = {"id": "x", "kind": operator["kind"], "settings": settings, "inputs": inputs}
        nodes = [*bids, *asks, made] if inputs else [made]
        found = check(engine, {"level": "logical", "nodes": nodes, "output": "x"})
        wrong = [error for error in found.errors if error.node == "x"]
        assert not wrong, (operator["kind"], wrong)
        assert operator["summary"].endswith(".")
