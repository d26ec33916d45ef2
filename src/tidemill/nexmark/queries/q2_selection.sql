-- The bids on five given items.

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT item, price, bidder
FROM bid
WHERE item IN (1007, 1020, 1087, 2001, 2019);
