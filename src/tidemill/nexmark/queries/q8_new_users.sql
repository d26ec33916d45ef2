-- People who open an auction within 12 hours after they registered.

CREATE STREAM person (id BIGINT, name STRING, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/person/', maxFilesPerTrigger => 1)
ORDERED BY ts;

CREATE STREAM open_auction (item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/open_auction/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT DISTINCT p.id, p.name
FROM person AS p WINDOW(RANGE 12 HOURS), open_auction AS o
WHERE p.id = o.seller;
