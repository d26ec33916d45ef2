-- People who open an auction within 12 hours after they registered.

CREATE RELATION person (id INT, name STRING, registered TIMESTAMP, `left` TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/person.csv')
VALID FROM registered TO `left`;

CREATE STREAM open_auction (item INT, seller INT, start_price DOUBLE, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/open_auction.csv')
ORDERED BY ts;

CREATE STREAM new_person AS
SELECT id, name FROM ISTREAM(person);

SELECT DISTINCT p.id, p.name
FROM new_person AS p WINDOW(RANGE 12 HOURS), open_auction AS o
WHERE p.id = o.seller;
