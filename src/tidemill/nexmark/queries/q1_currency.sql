-- Every bid with its price in euros (at 0.8 euros to the dollar).

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT item, price * 0.8 AS euros, bidder
FROM bid;
