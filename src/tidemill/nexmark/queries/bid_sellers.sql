-- Every bid with the seller and the start price of its item, while the auction is open.

CREATE STREAM bid (item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/bid/', maxFilesPerTrigger => 1)
ORDERED BY ts;

CREATE STREAM open_auction (item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP)
SOURCE parquet(path => 'nexmark/open_auction/', maxFilesPerTrigger => 1)
ORDERED BY ts;

SELECT b.item, b.price, o.seller, o.start_price
FROM bid AS b, open_auction AS o WINDOW(RANGE 2 DAYS)
WHERE b.item = o.item;
