-- The items that were opened in the last day and have not been closed, at every instant.

CREATE STREAM open_auction (item INT, seller INT, start_price DOUBLE, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/open_auction.csv')
ORDERED BY ts;

CREATE STREAM closed_auction (item INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/closed_auction.csv')
ORDERED BY ts;

SELECT item FROM open_auction WINDOW(RANGE 1 DAY)
EXCEPT
SELECT item FROM closed_auction WINDOW(RANGE 1 DAY);
