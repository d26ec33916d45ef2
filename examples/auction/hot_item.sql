-- The item or items with the most bids in the last hour.

CREATE STREAM bid (item INT, price DOUBLE, bidder INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/bid/')
ORDERED BY ts SLACK 2 MINUTES;

SELECT h.item, h.bids
FROM (SELECT item, COUNT(*) AS bids FROM bid WINDOW(RANGE 60 MINUTES) GROUP BY item) AS h
WHERE h.bids >= ALL (SELECT COUNT(*) FROM bid WINDOW(RANGE 60 MINUTES) GROUP BY item);
