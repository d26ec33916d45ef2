-- The item or items with the most bids in the last hour.

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT h.item, h.bids
FROM (SELECT item, COUNT(*) AS bids
      FROM bid WINDOW(RANGE 60 MINUTES) GROUP BY item) AS h
WHERE h.bids >= ALL (SELECT COUNT(*)
                     FROM bid WINDOW(RANGE 60 MINUTES) GROUP BY item);
