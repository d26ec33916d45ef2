-- Every 10 minutes, the highest bid or bids of the last 10 minutes.

CREATE STREAM bid (item INT, price DOUBLE, bidder INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/bid/')
ORDERED BY ts SLACK 2 MINUTES;

SELECT b.item, b.price
FROM bid AS b WINDOW(RANGE 10 MINUTES SLIDE 10 MINUTES)
WHERE b.price = (SELECT MAX(price) FROM bid WINDOW(RANGE 10 MINUTES SLIDE 10 MINUTES));
