-- An average whose window and granule may be adapted within bounds while it runs;
-- today the largest window and the finest granule are used.

CREATE STREAM sensor (temperature DOUBLE, ts TIMESTAMP)
SOURCE csv(path => 'examples/csv/data/sensor.csv')
ORDERED BY ts;

SELECT AVG(temperature) AS average
FROM sensor
     WINDOW(RANGE MIN 12 HOURS, MAX 24 HOURS)
     GRANULARITY(COARSEST 2 HOURS, FINEST 10 MINUTES);
