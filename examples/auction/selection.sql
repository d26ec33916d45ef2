-- The bids on five given items.

CREATE STREAM bid (item INT, price DOUBLE, bidder INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/bid/')
ORDERED BY ts SLACK 2 MINUTES;

SELECT *
FROM bid
WHERE item IN (1002, 1007, 1011, 1020, 1033);
