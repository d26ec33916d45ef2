-- Auctions that closed less than 5 hours after they opened.

CREATE STREAM open_auction (item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/open_auction/', maxFilesPerTrigger => 1)
ORDERED BY ts;

CREATE STREAM closed_auction (item BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/closed_auction/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT o.item, o.seller, o.start_price
FROM open_auction AS o WINDOW(RANGE 5 HOURS), closed_auction AS c
WHERE o.item = c.item;
