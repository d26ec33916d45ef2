-- The average price of the last 10 items that each seller sold.

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

CREATE STREAM open_auction (item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/open_auction/', maxFilesPerTrigger => 1)
ORDERED BY ts;

CREATE STREAM closed_auction (item BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/closed_auction/', maxFilesPerTrigger => 1)
ORDERED BY ts;

-- Derived streams: every price that an item had when it closed, and the highest of them.
CREATE STREAM current_price AS
SELECT p.item, p.price, o.seller
FROM ((SELECT item, price FROM bid WINDOW(RANGE 2 DAYS))
      UNION ALL
      (SELECT item, start_price AS price FROM open_auction WINDOW(RANGE 2 DAYS))) AS p,
     closed_auction AS c,
     open_auction AS o WINDOW(RANGE 2 DAYS)
WHERE p.item = c.item AND c.item = o.item;

CREATE STREAM closing_price AS
SELECT item, seller, MAX(price) AS price
FROM current_price
GROUP BY item, seller;

SELECT seller, AVG(price) AS average
FROM closing_price WINDOW(PARTITION BY seller ROWS 10)
GROUP BY seller;
