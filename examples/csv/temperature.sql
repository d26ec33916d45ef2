-- The average temperature of the last hour, exact at every half hour.

CREATE STREAM sensor (temperature DOUBLE, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/sensor.csv')
ORDERED BY ts;

SELECT AVG(temperature) AS average
FROM sensor WINDOW(RANGE 1 HOUR) GRANULARITY(30 MINUTES);
