-- The average price of the last 10 items that each seller sold.

CREATE STREAM bid (item INT, price DOUBLE, bidder INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/bid/')
ORDERED BY ts SLACK 2 MINUTES;

CREATE STREAM open_auction (item INT, seller INT, start_price DOUBLE, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/open_auction.csv')
ORDERED BY ts;

CREATE STREAM closed_auction (item INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/closed_auction.csv')
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
