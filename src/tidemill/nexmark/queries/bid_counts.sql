-- How many bids every item had in the last hour, at every instant.

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT item, COUNT(*) AS bids
FROM bid WINDOW(RANGE 60 MINUTES)
GROUP BY item;
