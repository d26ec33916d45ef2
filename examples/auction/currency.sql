-- Every bid with its price in euros (at 0.8 euros to the dollar).

CREATE STREAM bid (item INT, price DOUBLE, bidder INT, ts TIMESTAMP)
SOURCE csv(path => 'examples/auction/data/bid/')
ORDERED BY ts SLACK 2 MINUTES;

SELECT item, ROUND(price * 0.8, 2) AS euros, bidder
FROM bid;
