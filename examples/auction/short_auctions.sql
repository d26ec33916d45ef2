-- Auctions that closed less than 5 hours after they opened.

CREATE STREAM open_auction (item INT, seller INT, start_price DOUBLE, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/open_auction.csv')
ORDERED BY ts;

CREATE STREAM closed_auction (item INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/closed_auction.csv')
ORDERED BY ts;

SELECT o.*
FROM open_auction AS o WINDOW(RANGE 5 HOURS), closed_auction AS c
WHERE o.item = c.item;
