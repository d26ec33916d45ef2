-- The highest bid or bids of the last 10 minutes, at every instant.

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT b.item, b.price
FROM bid AS b WINDOW(RANGE 10 MINUTES)
WHERE b.price = (SELECT MAX(price) FROM bid WINDOW(RANGE 10 MINUTES));
