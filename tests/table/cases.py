"""Tables made in Python, and the SQL that means the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

import tidemill as tm
from tidemill.engine.query_table import QueryTable

Make = Callable[[tm.Engine], QueryTable]


def bids(engine: tm.Engine) -> QueryTable:
    return engine.table("bid").alias("b").window(range=5)


def asks(engine: tm.Engine) -> QueryTable:
    return engine.table("ask").alias("a").window(range=3)


def over(engine: tm.Engine) -> QueryTable:
    return engine.table("bid").window(range=5)


price = tm.col("price")
item = tm.col("item")
same_item = tm.col("a.item") == tm.col("b.item")

WINDOWS: list[tuple[Make, str]] = [
    (lambda e: e.table("bid"), "SELECT * FROM bid"),
    (lambda e: e.table("bid").window(range=5), "SELECT * FROM bid WINDOW(RANGE 5)"),
    (
        lambda e: e.table("bid").window(range=5, slide=5),
        "SELECT * FROM bid WINDOW(RANGE 5 SLIDE 5)",
    ),
    (
        lambda e: e.table("bid").window(range=5, delay=9),
        "SELECT * FROM bid WINDOW(RANGE 5 DELAY 9)",
    ),
    (lambda e: e.table("bid").window(range=(2, 5)), "SELECT * FROM bid WINDOW(RANGE MIN 2, MAX 5)"),
    (lambda e: e.table("bid").window(rows=2), "SELECT * FROM bid WINDOW(ROWS 2)"),
    (lambda e: e.table("bid").window(rows=2, slide=2), "SELECT * FROM bid WINDOW(ROWS 2 SLIDE 2)"),
    (lambda e: e.table("bid").window(rows=(2, 9)), "SELECT * FROM bid WINDOW(ROWS MIN 2, MAX 9)"),
    (
        lambda e: e.table("bid").window(partition_by=["item", "bidder"], rows=2),
        "SELECT * FROM bid WINDOW(PARTITION BY item, bidder ROWS 2)",
    ),
    (
        lambda e: e.table("bid").window(partition_by="item", session=3),
        "SELECT * FROM bid WINDOW(PARTITION BY item SESSION 3)",
    ),
    (lambda e: e.table("bid").window(unbounded=True), "SELECT * FROM bid WINDOW(RANGE UNBOUNDED)"),
    (lambda e: e.table("bid").window(now=True), "SELECT * FROM bid WINDOW(NOW)"),
    (
        lambda e: e.table("click").window(range="5 minutes", slide=timedelta(seconds=90)),
        "SELECT * FROM click WINDOW(RANGE 5 MINUTES SLIDE 90 SECONDS)",
    ),
    (
        lambda e: e.table("click").window(range=timedelta(days=7)),
        "SELECT * FROM click WINDOW(RANGE 1 WEEK)",
    ),
    (
        lambda e: e.table("bid").window(range=5).granularity(4),
        "SELECT * FROM bid WINDOW(RANGE 5) GRANULARITY(4)",
    ),
    (
        lambda e: e.table("bid").window(range=5).granularity(coarsest=8, finest=2),
        "SELECT * FROM bid WINDOW(RANGE 5) GRANULARITY(COARSEST 8, FINEST 2)",
    ),
    (
        lambda e: e.table("bid").tumble("at", 10),
        "SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(at), 10))",
    ),
    (
        lambda e: e.table("bid").hop("at", 5, 10).group_by("window_end").agg(n=tm.count()),
        "SELECT window_end, COUNT(*) AS n FROM HOP(TABLE bid, DESCRIPTOR(at), 5, 10)"
        " GROUP BY window_end",
    ),
    (
        lambda e: e.table("click").cumulate("ts", "1 minute", "5 minutes"),
        "SELECT * FROM CUMULATE(TABLE click, DESCRIPTOR(ts), INTERVAL 1 MINUTE,"
        " INTERVAL 5 MINUTES)",
    ),
    (
        lambda e: e.table("bid").filter(price > 10).window(range=5),
        "SELECT * FROM (SELECT * FROM bid WHERE price > 10) AS bid WINDOW(RANGE 5)",
    ),
    (
        lambda e: (
            e.table("bid").window(range=2).agg(n=tm.count()).istream().alias("q").window(range=3)
        ),
        "SELECT * FROM ISTREAM(SELECT COUNT(*) AS n FROM bid WINDOW(RANGE 2)) AS q WINDOW(RANGE 3)",
    ),
]

ROWS: list[tuple[Make, str]] = [
    (
        lambda e: e.table("bid").filter(price > 20).select("item", doubled=price * 2),
        "SELECT item, price * 2 AS doubled FROM bid WHERE price > 20",
    ),
    (
        lambda e: e.table("bid").filter(price > 20, item == "lamp").filter(price < 50),
        "SELECT * FROM bid WHERE price > 20 AND item = 'lamp' AND price < 50",
    ),
    (
        lambda e: e.table("bid").select(doubled=price * 2).filter(tm.col("doubled") > 20),
        "SELECT * FROM (SELECT price * 2 AS doubled FROM bid) AS bid WHERE doubled > 20",
    ),
    (
        lambda e: e.table("bid").with_columns("at", twice=price * 2),
        "SELECT *, at, price * 2 AS twice FROM bid",
    ),
    (lambda e: e.table("bid").drop("price"), "SELECT * EXCEPT (price) FROM bid"),
    (
        lambda e: e.table("bid").replace_columns(price=price + 1),
        "SELECT * REPLACE (price + 1 AS price) FROM bid",
    ),
    (
        lambda e: e.table("bid").select("item").distinct(),
        "SELECT DISTINCT item FROM bid",
    ),
    (
        lambda e: over(e).select("item", "price").order_by(price.desc(), "item").limit(2),
        "SELECT item, price FROM bid WINDOW(RANGE 5) ORDER BY price DESC, item LIMIT 2",
    ),
    (
        lambda e: over(e).order_by(price.asc(nulls="last")).limit(2, offset=1),
        "SELECT * FROM bid WINDOW(RANGE 5) ORDER BY price NULLS LAST LIMIT 2 OFFSET 1",
    ),
    (
        lambda e: over(e).order_by("price").limit(3).limit(2),
        "SELECT * FROM (SELECT * FROM bid WINDOW(RANGE 5) ORDER BY price LIMIT 3) AS bid LIMIT 2",
    ),
    (
        lambda e: over(e).filter(price > 1).istream(),
        "ISTREAM(SELECT * FROM bid WINDOW(RANGE 5) WHERE price > 1)",
    ),
    (lambda e: over(e).dstream().select("item"), "SELECT item FROM DSTREAM(bid WINDOW(RANGE 5))"),
    (lambda e: e.table("bid").rstream(), "SELECT * FROM RSTREAM(bid)"),
    (
        lambda e: over(e).hint("RATE(bid, 100)").hint("DISTINCT(bid.item, 5)").select("item"),
        "SELECT /*+ RATE(bid, 100), DISTINCT(bid.item, 5) */ item FROM bid WINDOW(RANGE 5)",
    ),
    (
        lambda e: e.table("odd").select("order", "unit price"),
        "SELECT `order`, `unit price` FROM odd",
    ),
    (
        lambda e: e.table(tm.table_expr("SELECT item FROM bid WHERE price > 1")).distinct(),
        "SELECT DISTINCT item FROM bid WHERE price > 1",
    ),
    (
        lambda e: e.table(tm.table_expr("WITH x AS (SELECT * FROM bid) SELECT item FROM x")).filter(
            item == "lamp"
        ),
        "SELECT * FROM (WITH x AS (SELECT * FROM bid) SELECT item FROM x) AS x WHERE item = 'lamp'",
    ),
    (
        lambda e: e.table(tm.values([("lamp", 1), ("vase", None)], "item", "n")).filter(
            item != "x"
        ),
        "SELECT * FROM (VALUES ('lamp', 1), ('vase', NULL)) AS v(item, n) WHERE item <> 'x'",
    ),
    (lambda e: e.table("lamp"), "SELECT * FROM lamp"),
    (
        lambda e: over(e).hint("RATE(bid, 100)").istream(),
        "ISTREAM(SELECT /*+ RATE(bid, 100) */ * FROM bid WINDOW(RANGE 5))",
    ),
    (
        lambda e: e.table("bid").istream().dstream(),
        "SELECT * FROM DSTREAM(ISTREAM(bid))",
    ),
    (
        lambda e: over(e).select("item", "price").order_by("item").order_by("price"),
        "SELECT item, price FROM bid WINDOW(RANGE 5) ORDER BY price",
    ),
    (
        lambda e: over(e).qualify(tm.fn.rank().over(order_by="price") == 1).select("item"),
        "SELECT item FROM bid WINDOW(RANGE 5) QUALIFY RANK() OVER (ORDER BY price) = 1",
    ),
]

JOINS: list[tuple[Make, str]] = [
    (
        lambda e: bids(e).join(asks(e), same_item).select("b.item", "ask"),
        "SELECT b.item, ask FROM bid AS b WINDOW(RANGE 5) JOIN ask AS a WINDOW(RANGE 3)"
        " ON a.item = b.item",
    ),
    *(
        (
            lambda e, how=how: bids(e).join(asks(e), same_item, how).select("b.item"),
            f"SELECT b.item FROM bid AS b WINDOW(RANGE 5) {how.upper()} JOIN"
            " ask AS a WINDOW(RANGE 3) ON a.item = b.item",
        )
        for how in ("inner", "left", "right", "full", "semi", "anti")
    ),
    (
        lambda e: (
            e.table("bid").join(e.table("category"), "item").join(e.table("clerk"), how="cross")
        ),
        "SELECT * FROM bid JOIN category USING (item) CROSS JOIN clerk",
    ),
    (
        lambda e: bids(e).filter(price > 1).join(e.table("category"), ["item"], "left"),
        "SELECT * FROM (SELECT * FROM bid AS b WINDOW(RANGE 5) WHERE price > 1) AS b"
        " LEFT JOIN category USING (item)",
    ),
    (
        lambda e: (
            e.table("category")
            .alias("c")
            .join(
                over(e).filter(item == tm.col("c.item")).agg(best=tm.max("price")).alias("x"),
                how="left",
                lateral=True,
            )
            .select("c.category", "x.best")
        ),
        "SELECT c.category, x.best FROM category AS c LEFT JOIN LATERAL (SELECT MAX(price) AS best"
        " FROM bid WINDOW(RANGE 5) WHERE item = c.item) AS x ON TRUE",
    ),
    (
        lambda e: (
            bids(e)
            .join(
                tm.unnest(tm.fn.array("b.bidder", tm.lit("all")), ordinality=True).alias(
                    "u", "word", "n"
                ),
                how="cross",
            )
            .select("b.item", "u.word", "u.n")
        ),
        "SELECT b.item, u.word, u.n FROM bid AS b WINDOW(RANGE 5)"
        " CROSS JOIN UNNEST(ARRAY(b.bidder, 'all')) WITH ORDINALITY AS u(word, n)",
    ),
    (
        lambda e: (
            e.table("bid")
            .join(tm.values([("lamp", "a lamp")], "item", "name"), "item")
            .select("name")
        ),
        "SELECT name FROM bid JOIN (VALUES ('lamp', 'a lamp')) AS v(item, name) USING (item)",
    ),
]

GROUPS: list[tuple[Make, str]] = [
    (
        lambda e: over(e).group_by("item").agg(n=tm.count(), best=tm.max("price")),
        "SELECT item, COUNT(*) AS n, MAX(price) AS best FROM bid WINDOW(RANGE 5) GROUP BY item",
    ),
    (
        lambda e: over(e).group_by("item").agg(n=tm.count()).having(tm.count() > 1),
        "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item HAVING COUNT(*) > 1",
    ),
    (
        lambda e: over(e).group_by("item").agg(n=tm.count()).filter(tm.col("n") > 1),
        "SELECT * FROM (SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item) AS bid"
        " WHERE n > 1",
    ),
    (
        lambda e: over(e).group_by(tens=tm.fn.floor(price / 10)).agg(n=tm.count()),
        "SELECT FLOOR(price / 10) AS tens, COUNT(*) AS n FROM bid WINDOW(RANGE 5)"
        " GROUP BY FLOOR(price / 10)",
    ),
    (
        lambda e: over(e).agg(
            n=tm.count("price"),
            items=tm.count("item", distinct=True),
            high=tm.count().filter(price > 20),
            total=tm.sum("price"),
            mean=tm.avg(price * 2),
            least=tm.min("price"),
        ),
        "SELECT COUNT(price) AS n, COUNT(DISTINCT item) AS items,"
        " COUNT(*) FILTER (WHERE price > 20) AS high, SUM(price) AS total, AVG(price * 2) AS mean,"
        " MIN(price) AS least FROM bid WINDOW(RANGE 5)",
    ),
    (
        lambda e: over(e).agg(
            middle=tm.fn.median("price"),
            half=tm.fn.percentile_cont(0.5).within_group("price"),
            names=tm.fn.array_agg("bidder", order_by=tm.col("bidder").desc()),
            text=tm.fn.string_agg("bidder", tm.lit(", "), order_by=tm.col("bidder").desc()),
            dearest=tm.fn.max_by("item", "price"),
        ),
        "SELECT MEDIAN(price) AS middle,"
        " PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY price) AS half,"
        " ARRAY_AGG(bidder ORDER BY bidder DESC) AS names,"
        " STRING_AGG(bidder, ', ' ORDER BY bidder DESC) AS text,"
        " MAX_BY(item, price) AS dearest FROM bid WINDOW(RANGE 5)",
    ),
    (
        lambda e: over(e).group_by(tm.rollup("item", "bidder")).agg(n=tm.count()),
        "SELECT item, bidder, COUNT(*) AS n FROM bid WINDOW(RANGE 5)"
        " GROUP BY ROLLUP (item, bidder)",
    ),
    (
        lambda e: over(e).group_by(tm.cube("item", "bidder")).agg(n=tm.count()),
        "SELECT item, bidder, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY CUBE (item, bidder)",
    ),
    (
        lambda e: (
            over(e).group_by(tm.grouping_sets(("item", "bidder"), ("item",), ())).agg(n=tm.count())
        ),
        "SELECT item, bidder, COUNT(*) AS n FROM bid WINDOW(RANGE 5)"
        " GROUP BY GROUPING SETS ((item, bidder), (item), ())",
    ),
    (
        lambda e: (
            over(e)
            .group_by("item")
            .agg(best=tm.max("price"))
            .order_by(tm.col("best").desc())
            .limit(1)
        ),
        "SELECT item, MAX(price) AS best FROM bid WINDOW(RANGE 5) GROUP BY item"
        " ORDER BY best DESC LIMIT 1",
    ),
    (
        lambda e: over(e).group_by("item").agg(n=tm.count()).agg(most=tm.max("n")),
        "SELECT MAX(n) AS most"
        " FROM (SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item) AS bid",
    ),
]

PLACE = "ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC)"

OVER: list[tuple[Make, str]] = [
    (
        lambda e: over(e).with_columns(place=tm.fn.row_number().over("item", price.desc())),
        f"SELECT *, {PLACE} AS place FROM bid WINDOW(RANGE 5)",
    ),
    (
        lambda e: (
            over(e)
            .qualify(tm.fn.row_number().over("item", price.desc()) == 1)
            .select("item", "price")
        ),
        f"SELECT item, price FROM bid WINDOW(RANGE 5) QUALIFY {PLACE} = 1",
    ),
    (
        lambda e: over(e).select(
            total=tm.sum("price").over(order_by="price", rows=(-2, 0)),
            rest=tm.sum("price").over(["item"], ["price"], rows=(1, None)),
            groups=tm.count().over(order_by="price", groups=(None, 1)),
            before=tm.fn.lag("price").ignore_nulls().over(order_by="bidder"),
        ),
        "SELECT SUM(price) OVER (ORDER BY price ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS total,"
        " SUM(price) OVER (PARTITION BY item ORDER BY price"
        " ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS rest,"
        " COUNT(*) OVER (ORDER BY price GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)"
        " AS groups,"
        " LAG(price) IGNORE NULLS OVER (ORDER BY bidder) AS before FROM bid WINDOW(RANGE 5)",
    ),
]

SETS: list[tuple[Make, str]] = [
    *(
        (
            lambda e, name=name, all=all: getattr(over(e).select("item"), name)(
                e.table("ask").window(range=3).select("item"), all=all
            ),
            f"SELECT item FROM bid WINDOW(RANGE 5) {name.strip('_').upper()}{' ALL' if all else ''}"
            " SELECT item FROM ask WINDOW(RANGE 3)",
        )
        for name in ("union", "except_", "intersect")
        for all in (False, True)
    ),
    (
        lambda e: (
            over(e)
            .select("item")
            .union(e.table("ask").select("item"))
            .except_(e.table("category").select("item"))
            .order_by("item")
            .limit(1)
        ),
        "SELECT * FROM (SELECT item FROM bid WINDOW(RANGE 5) UNION SELECT item FROM ask)"
        " EXCEPT SELECT item FROM category ORDER BY item LIMIT 1",
    ),
    (
        lambda e: (
            over(e)
            .select("item")
            .union(e.table("ask").select("item"))
            .union(e.table("category").select("item"))
        ),
        "SELECT item FROM bid WINDOW(RANGE 5) UNION SELECT item FROM ask"
        " UNION SELECT item FROM category",
    ),
    (
        lambda e: over(e).select("item").istream().union(e.table("ask").select("item")),
        "ISTREAM(SELECT item FROM bid WINDOW(RANGE 5)) UNION SELECT item FROM ask",
    ),
    (
        lambda e: (
            e.table("bid").select("item").union(e.table("ask").select("item")).filter(item > "k")
        ),
        "SELECT * FROM (SELECT item FROM bid UNION SELECT item FROM ask) WHERE item > 'k'",
    ),
]

SUBQUERIES: list[tuple[Make, str]] = [
    (
        lambda e: bids(e).filter(~tm.exists(asks(e).filter(same_item))),
        "SELECT * FROM bid AS b WINDOW(RANGE 5)"
        " WHERE NOT EXISTS (SELECT * FROM ask AS a WINDOW(RANGE 3) WHERE a.item = b.item)",
    ),
    (
        lambda e: bids(e).filter(item.isin(asks(e).select("item"))),
        "SELECT * FROM bid AS b WINDOW(RANGE 5)"
        " WHERE item IN (SELECT item FROM ask AS a WINDOW(RANGE 3))",
    ),
    (
        lambda e: over(e).filter(price >= tm.all_of(asks(e).select("ask"))),
        "SELECT * FROM bid WINDOW(RANGE 5)"
        " WHERE price >= ALL (SELECT ask FROM ask AS a WINDOW(RANGE 3))",
    ),
    (
        lambda e: over(e).filter(price == tm.any_of(asks(e).select("ask"))),
        "SELECT * FROM bid WINDOW(RANGE 5)"
        " WHERE price = ANY (SELECT ask FROM ask AS a WINDOW(RANGE 3))",
    ),
    (
        lambda e: bids(e).select("item", asks=asks(e).filter(same_item).agg(tm.count()).scalar()),
        "SELECT item, (SELECT COUNT(*) FROM ask AS a WINDOW(RANGE 3) WHERE a.item = b.item) AS asks"
        " FROM bid AS b WINDOW(RANGE 5)",
    ),
]

EXPRESSIONS: list[tuple[tm.Expr, str]] = [
    ((price + 1) * 2 - price % 7, "(price + 1) * 2 - price % 7"),
    (price - (price - 1), "price - (price - 1)"),
    (1 - price / 2 / 3, "1 - price / 2 / 3"),
    (price / (price / 4), "price / (price / 4)"),
    (2 * -price + 3 - -price, "2 * -price + 3 - -price"),
    ((price > 1) & (price < 9) | ~(item == "a"), "price > 1 AND price < 9 OR NOT item = 'a'"),
    ((price > 1) & ((price < 9) | (item == "a")), "price > 1 AND (price < 9 OR item = 'a')"),
    ((price > 1) == (price < 9), "(price > 1) = (price < 9)"),
    (~((price > 1) | (item != "a")), "NOT (price > 1 OR item <> 'a')"),
    (price.is_null() | price.is_not_null(), "price IS NULL OR price IS NOT NULL"),
    ((price + 1).between(1, price * 2), "price + 1 BETWEEN 1 AND price * 2"),
    (item.like("l%") & ~item.like("_x"), "item LIKE 'l%' AND NOT item LIKE '_x'"),
    (item.isin([]), "FALSE"),
    (tm.fn.if_(price > 1, "item", tm.lit("x")), "IF(price > 1, item, 'x')"),
    (item.isin(["a", "it's"]), "item IN ('a', 'it''s')"),
    (price.equals(None), "price <=> NULL"),
    (price.cast("DECIMAL(10, 2)"), "CAST(price AS DECIMAL(10, 2))"),
    (item.try_cast("INT"), "TRY_CAST(item AS INT)"),
    (tm.fn.coalesce("price", 0), "COALESCE(price, 0)"),
    (
        tm.fn.upper(tm.fn.concat("item", tm.lit("\\ 'x' \n"))),
        "UPPER(CONCAT(item, '\\\\ \\'x\\' \\n'))",
    ),
    (tm.fn.array("item", "bidder")[0], "ARRAY(item, bidder)[0]"),
    (tm.fn.named_struct(tm.lit("a"), "item").field("a"), "NAMED_STRUCT('a', item).a"),
    (
        tm.case((price > 10, "dear"), (price > 5, "fair"), otherwise="cheap"),
        "CASE WHEN price > 10 THEN 'dear' WHEN price > 5 THEN 'fair' ELSE 'cheap' END",
    ),
    (
        tm.expr("price BETWEEN 1 AND 2 OR item = 'x'") & (price > 0),
        "(price BETWEEN 1 AND 2 OR item = 'x') AND price > 0",
    ),
    (tm.lit(Decimal("1.50")), "CAST('1.50' AS DECIMAL(3, 2))"),
    (tm.lit(2.5), "CAST('2.5' AS DOUBLE)"),
    (tm.lit(True) & (price > -3), "TRUE AND price > -3"),
    (tm.lit(date(2024, 3, 1)), "DATE '2024-03-01'"),
    (tm.lit(datetime(2024, 3, 1, 9, 30)), "TIMESTAMP '2024-03-01 09:30:00'"),
    (tm.lit([1, 2]), "ARRAY(1, 2)"),
]

TEXTS: list[tuple[Make, str]] = [
    (
        lambda e: e.table(tm.table_expr("OBJECTS(bid, ask BY item)")).window(range=9),
        "SELECT * FROM OBJECTS(bid, ask BY item) WINDOW(RANGE 9)",
    ),
    (
        lambda e: e.table(tm.values([("lamp",)], "item")).granularity(2),
        "SELECT * FROM (SELECT * FROM (VALUES ('lamp')) AS v(item)) GRANULARITY(2)",
    ),
    (
        lambda e: bids(e).join(asks(e), same_item).shed(100, "b.price", using="dgl", alpha=2),
        "SELECT * FROM bid AS b WINDOW(RANGE 5) JOIN ask AS a WINDOW(RANGE 3) ON a.item = b.item"
        " SHED TO 100 ROWS BY b.price USING dgl(alpha => 2)",
    ),
    (
        lambda e: over(e).order_by(price.desc()).limit(3, approximate=True),
        "SELECT * FROM bid WINDOW(RANGE 5) ORDER BY price DESC LIMIT 3 APPROXIMATE",
    ),
    (
        lambda e: over(e).order_by(price.desc()).limit(3, approximate=0.9),
        "SELECT * FROM bid WINDOW(RANGE 5) ORDER BY price DESC LIMIT 3"
        " APPROXIMATE(confidence => 0.9)",
    ),
]
"""Clauses with demands on their streams, which these do not meet: compared as statements."""
