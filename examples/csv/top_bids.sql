-- The three highest bids of the last half hour, at every instant.

CREATE STREAM bid (item INT, price DOUBLE, bidder INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/bid/')
ORDERED BY ts SLACK 2 MINUTES;

SELECT item, price, bidder
FROM bid WINDOW(RANGE 30 MINUTES)
ORDER BY price DESC
LIMIT 3;
