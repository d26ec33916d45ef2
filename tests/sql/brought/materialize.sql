-- a temporal filter
SELECT bike, rider FROM hire WHERE mz_now() <= ts + INTERVAL '5' MINUTE
=>
error: unknown function `mz_now`
  line 1, column 36
    SELECT bike, rider FROM hire WHERE mz_now() <= ts + INTERVAL '5' MINUTE
                                       ^^^^^^
help: the time that passes is a window: ts + INTERVAL '5' MINUTES > mz_now() is FROM bid WINDOW(RANGE 5 MINUTES), ts + INTERVAL '5' MINUTES <= mz_now() is WINDOW(RANGE UNBOUNDED DELAY 5 MINUTES)

-- a temporal filter as a window
SELECT bike, rider FROM hire WINDOW(RANGE 5 MINUTES)
=>
bike   rider   valid_from            valid_to
────────────────────────────────────────────────────────
b1     ann     2024-05-01 09:02:00   2024-05-01 09:07:00
b2     bob     2024-05-01 09:05:00   2024-05-01 09:10:00
b1     cy      2024-05-01 09:09:00   2024-05-01 09:14:00
b3     ann     2024-05-01 09:13:00   2024-05-01 09:18:00
b2     dee     2024-05-01 09:17:00   2024-05-01 09:22:00
b1     ann     2024-05-01 09:34:00   2024-05-01 09:39:00

-- a sliding count by a temporal filter
SELECT bike, COUNT(*) AS n FROM hire
WHERE mz_now() >= ts AND mz_now() < ts + INTERVAL '10 minutes' GROUP BY bike
=>
error: unknown function `mz_now`
  line 2, column 7
    WHERE mz_now() >= ts AND mz_now() < ts + INTERVAL '10 minutes' GROUP BY bike
          ^^^^^^
help: the time that passes is a window: ts + INTERVAL '5' MINUTES > mz_now() is FROM bid WINDOW(RANGE 5 MINUTES), ts + INTERVAL '5' MINUTES <= mz_now() is WINDOW(RANGE UNBOUNDED DELAY 5 MINUTES)

-- a sliding count
SELECT bike, COUNT(*) AS n FROM hire WINDOW(RANGE 10 MINUTES) GROUP BY bike
=>
bike   n   valid_from            valid_to
────────────────────────────────────────────────────
b1     1   2024-05-01 09:02:00   2024-05-01 09:09:00
b2     1   2024-05-01 09:05:00   2024-05-01 09:15:00
b1     2   2024-05-01 09:09:00   2024-05-01 09:12:00
b1     1   2024-05-01 09:12:00   2024-05-01 09:19:00
b3     1   2024-05-01 09:13:00   2024-05-01 09:23:00
b2     1   2024-05-01 09:17:00   2024-05-01 09:27:00
b1     1   2024-05-01 09:34:00   2024-05-01 09:44:00

-- a delayed view by a temporal filter
SELECT bike FROM hire WHERE mz_now() >= ts + INTERVAL '1 minute'
=>
error: unknown function `mz_now`
  line 1, column 29
    SELECT bike FROM hire WHERE mz_now() >= ts + INTERVAL '1 minute'
                                ^^^^^^
help: the time that passes is a window: ts + INTERVAL '5' MINUTES > mz_now() is FROM bid WINDOW(RANGE 5 MINUTES), ts + INTERVAL '5' MINUTES <= mz_now() is WINDOW(RANGE UNBOUNDED DELAY 5 MINUTES)

-- a delayed view
SELECT bike FROM hire WINDOW(RANGE UNBOUNDED DELAY 1 MINUTE)
=>
bike   valid_from            valid_to
─────────────────────────────────────
b1     2024-05-01 09:03:00   ∞
b2     2024-05-01 09:06:00   ∞
b1     2024-05-01 09:10:00   ∞
b3     2024-05-01 09:14:00   ∞
b2     2024-05-01 09:18:00   ∞
b1     2024-05-01 09:35:00   ∞

-- tumbling windows by date_bin
SELECT date_bin('10 minutes', ts, TIMESTAMP '2024-05-01') AS bin, COUNT(*) AS n FROM hire GROUP BY 1
=>
error: the function `date_bin` is not supported
  line 1, column 8
    SELECT date_bin('10 minutes', ts, TIMESTAMP '2024-05-01') AS bin, COUNT(*) AS n FROM hire GROUP BY 1
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write date_trunc('HOUR', ts), or for windows GROUP BY window(ts, '10 minutes')

-- tumbling windows by date_trunc
SELECT DATE_TRUNC('hour', ts) AS hour, COUNT(*) AS n FROM hire WINDOW(RANGE UNBOUNDED) GROUP BY 1
=>
hour                  n   valid_from            valid_to
───────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   1   2024-05-01 09:02:00   2024-05-01 09:05:00
2024-05-01 09:00:00   2   2024-05-01 09:05:00   2024-05-01 09:09:00
2024-05-01 09:00:00   3   2024-05-01 09:09:00   2024-05-01 09:13:00
2024-05-01 09:00:00   4   2024-05-01 09:13:00   2024-05-01 09:17:00
2024-05-01 09:00:00   5   2024-05-01 09:17:00   2024-05-01 09:34:00
2024-05-01 09:00:00   6   2024-05-01 09:34:00   ∞

-- rows between two instants
SELECT rider, level FROM member AS OF TIMESTAMP '2024-05-01 09:20:00'
=>
error: `AS OF` is not supported
  line 1, column 33
    SELECT rider, level FROM member AS OF TIMESTAMP '2024-05-01 09:20:00'
                                    ^^^^^
help: leave it out: a row of a stream without a window meets the rows that hold at its instant, and query.snapshot(instant) is the answer at an instant

-- the first of each group, by DISTINCT ON
SELECT DISTINCT ON (bike) bike, rider FROM hire ORDER BY bike, fare DESC
=>
error: DISTINCT ON is not supported
  line 1, column 21
    SELECT DISTINCT ON (bike) bike, rider FROM hire ORDER BY bike, fare DESC
                        ^^^^
help: write QUALIFY ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) = 1

-- the first of each group, by a lateral join
SELECT s.town, x.bike FROM (SELECT DISTINCT town FROM station) s,
LATERAL (SELECT e.bike FROM ending e WINDOW(RANGE UNBOUNDED) JOIN station t USING (station)
         WHERE t.town = s.town ORDER BY e.bike LIMIT 1) x
=>
warning: OVER keeps every row of `ending AS e WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 38
    LATERAL (SELECT e.bike FROM ending e WINDOW(RANGE UNBOUNDED) JOIN station t USING (station)
                                         ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
town    bike   valid_from            valid_to
────────────────────────────────────────────────────────
Leith   b1     2024-05-01 09:07:00   2024-05-01 09:20:00
Leith   b1     2024-05-01 09:20:00   ∞
Crail   b3     2024-05-01 09:21:00   ∞

-- a materialized view
CREATE MATERIALIZED VIEW busy AS SELECT bike, COUNT(*) AS n FROM hire GROUP BY bike
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `MATERIALIZED`
  line 1, column 8
    CREATE MATERIALIZED VIEW busy AS SELECT bike, COUNT(*) AS n FROM hire GROUP BY bike
           ^^^^^^^^^^^^
help: write CREATE VIEW, or for a query that keeps its answer CREATE QUERY name AS SELECT ..., then START QUERY name

-- a query that keeps its answer
CREATE QUERY busy AS SELECT bike, COUNT(*) AS n FROM hire WINDOW(RANGE 10 MINUTES) GROUP BY bike;
SHOW QUERIES
=>
name   state     reads
──────────────────────
busy   stopped   hire

-- subscribe to changes
SUBSCRIBE TO (SELECT bike FROM hire)
=>
error: a statement cannot start with `SUBSCRIBE`
  line 1, column 1
    SUBSCRIBE TO (SELECT bike FROM hire)
    ^^^^^^^^^
help: write ISTREAM(SELECT ...) for rows that come, DSTREAM for those that go

-- changes as a stream
SELECT bike, n FROM ISTREAM(SELECT bike, COUNT(*) AS n FROM hire WINDOW(RANGE 10 MINUTES) GROUP BY bike)
=>
bike   n   valid_from            valid_to
───────────────────────────────────────────────────────────
b1     1   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     1   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     2   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b1     1   2024-05-01 09:12:00   2024-05-01 09:12:00.000001
b3     1   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2     1   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1     1   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- an index
CREATE INDEX busy_idx ON hire (bike)
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `INDEX`
  line 1, column 8
    CREATE INDEX busy_idx ON hire (bike)
           ^^^^^
help: leave it out: queries make the indexes that they need

-- recursion
WITH MUTUALLY RECURSIVE r (n INT) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
=>
error: `WITH MUTUALLY RECURSIVE` is not supported
  line 1, column 1
    WITH MUTUALLY RECURSIVE r (n INT) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
    ^^^^^^^^^^^^^^^^^^^^^^^
help: write the steps out as queries of their own

-- recursion as in PostgreSQL
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
=>
error: WITH RECURSIVE is not supported
  line 1, column 16
    WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write the steps out as queries of their own

-- a series
SELECT n FROM generate_series(1, 3) AS g(n)
=>
error: table functions are not supported
  line 1, column 15
    SELECT n FROM generate_series(1, 3) AS g(n)
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: unnest a list: UNNEST(sequence(1, 3)) AS s(n)

-- a series in the select list
SELECT generate_series(1, 3) AS n FROM station
=>
error: the function `generate_series` is not supported
  line 1, column 8
    SELECT generate_series(1, 3) AS n FROM station
           ^^^^^^^^^^^^^^^^^^^^^
help: unnest a list: UNNEST(sequence(1, 3)) AS s(n)

-- a list as rows
SELECT rider, tag FROM hire, UNNEST(tags) AS t(tag)
=>
rider   tag    valid_from            valid_to
───────────────────────────────────────────────────────────────
ann     city   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
ann     rain   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     city   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
ann     park   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
ann     park   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
ann     rain   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- rows from lists side by side
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(3, 4)) AS t(a, b)
=>
error: ROWS FROM is not supported behind an entry of FROM
  line 1, column 25
    SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(3, 4)) AS t(a, b)
                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write UNNEST(...) WITH ORDINALITY for each list, and join on the places

-- an array from a subquery
SELECT ARRAY(SELECT town FROM station) AS towns FROM station
=>
error: a subquery that stands for a value can have several rows
  line 1, column 21
    SELECT ARRAY(SELECT town FROM station) AS towns FROM station
                        ^^^^^^^^^^^^^^^^^
help: aggregate it without GROUP BY, add LIMIT 1, or compare with = ANY (...)

-- an aggregate into a list
SELECT town, ARRAY_AGG(station ORDER BY docks DESC) AS stations, STRING_AGG(station, '+' ORDER BY station) AS all_
FROM station GROUP BY town
=>
town    stations           all_        valid_from   valid_to
────────────────────────────────────────────────────────────
Crail   ["moor"]           moor                 0          ∞
Leith   ["quay", "mill"]   mill+quay            0          ∞

-- an aggregate into JSON
SELECT jsonb_agg(station) AS j FROM station
=>
error: unknown function `jsonb_agg`
  line 1, column 8
    SELECT jsonb_agg(station) AS j FROM station
           ^^^^^^^^^^^^^^^^^^
help: write ARRAY_AGG(x)

-- the fields of JSON
SELECT data ->> 'a' AS a FROM (SELECT '{"a": 1}' AS data FROM station)
=>
error: the function `JSON_EXTRACT_SCALAR` is not supported
  line 1, column 8
    SELECT data ->> 'a' AS a FROM (SELECT '{"a": 1}' AS data FROM station)
           ^^^^
help: declare the field as a STRUCT or MAP column of the source

-- percentiles
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY km) AS half FROM hire WINDOW(RANGE UNBOUNDED)
=>
half   valid_from            valid_to
────────────────────────────────────────────────
 2.5   2024-05-01 09:02:00   2024-05-01 09:05:00
1.75   2024-05-01 09:05:00   2024-05-01 09:09:00
 2.5   2024-05-01 09:09:00   2024-05-01 09:13:00
3.25   2024-05-01 09:13:00   2024-05-01 09:17:00
3.25   2024-05-01 09:17:00   2024-05-01 09:34:00
   3   2024-05-01 09:34:00   ∞

-- equality with NULL
SELECT rider FROM hire WHERE fare IS NOT DISTINCT FROM NULL
=>
rider   valid_from            valid_to
────────────────────────────────────────────────────────
dee     2024-05-01 09:17:00   2024-05-01 09:17:00.000001

-- distinct from
SELECT rider FROM hire WHERE fare IS DISTINCT FROM 4.00
=>
rider   valid_from            valid_to
────────────────────────────────────────────────────────
bob     2024-05-01 09:05:00   2024-05-01 09:05:00.000001
cy      2024-05-01 09:09:00   2024-05-01 09:09:00.000001
ann     2024-05-01 09:13:00   2024-05-01 09:13:00.000001
dee     2024-05-01 09:17:00   2024-05-01 09:17:00.000001
ann     2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a cast with colons
SELECT docks::TEXT AS t, '3'::INT4 AS n, 'x'::VARCHAR(4) AS v FROM station
=>
t      n   v   valid_from   valid_to
────────────────────────────────────
NULL   3   x            0          ∞
12     3   x            0          ∞
8      3   x            0          ∞

-- a pattern without case
SELECT station FROM station WHERE station ILIKE 'M%'
=>
station   valid_from   valid_to
───────────────────────────────
mill               0          ∞
moor               0          ∞

-- a regular expression by an operator
SELECT station FROM station WHERE station ~ '^m'
=>
error: `~` is not supported
  line 1, column 43
    SELECT station FROM station WHERE station ~ '^m'
                                              ^
help: write regexp_like(text, pattern), or text RLIKE pattern

-- similar to
SELECT station FROM station WHERE station SIMILAR TO 'm(i|o)%'
=>
error: ``station.station` SIMILAR TO 'm(i|o)%'` is not supported
  line 1, column 35
    SELECT station FROM station WHERE station SIMILAR TO 'm(i|o)%'
                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write RLIKE with a regular expression

-- quoted names
SELECT "station" FROM station
=>
'station'   valid_from   valid_to
─────────────────────────────────
station              0          ∞
station              0          ∞
station              0          ∞

-- a text with dollars
SELECT $$quay$$ AS s FROM station
=>
error: `$$` is not supported
  line 1, column 8
    SELECT $$quay$$ AS s FROM station
           ^^
help: write the text in single quotes

-- limit with ties
SELECT station, town FROM station ORDER BY town FETCH FIRST 1 ROWS WITH TIES
=>
station   town    valid_from   valid_to
───────────────────────────────────────
moor      Crail            0          ∞

-- a row as a value
SELECT ROW(station, town) AS r FROM station
=>
error: unknown function `ROW`
  line 1, column 8
    SELECT ROW(station, town) AS r FROM station
           ^^^^^^^^^^^^^^^^^^
help: write struct(a, b), or named_struct('x', a, 'y', b)

-- a comparison of rows
SELECT station FROM station WHERE (station, town) = ('quay', 'Leith')
=>
station   valid_from   valid_to
───────────────────────────────
quay               0          ∞

-- values in a list of rows
SELECT station FROM station WHERE (station, town) IN (VALUES ('quay', 'Leith'), ('moor', 'Leith'))
=>
station   valid_from   valid_to
───────────────────────────────
quay               0          ∞

-- values by themselves
VALUES (1, 'a'), (2, 'b')
=>
col1   col2   valid_from   valid_to
───────────────────────────────────
   1   a               0          ∞
   2   b               0          ∞

-- the table statement
TABLE station
=>
error: a statement cannot start with `TABLE`
  line 1, column 1
    TABLE station
    ^^^^^
help: write SELECT * FROM name

-- exists
SELECT town FROM station s WHERE EXISTS (SELECT 1 FROM ending e WINDOW(RANGE 10 MINUTES) WHERE e.station = s.station)
=>
town    valid_from            valid_to
─────────────────────────────────────────────────
Leith   2024-05-01 09:07:00   2024-05-01 09:17:00
Leith   2024-05-01 09:16:00   2024-05-01 09:26:00
Leith   2024-05-01 09:20:00   2024-05-01 09:30:00
Crail   2024-05-01 09:21:00   2024-05-01 09:31:00

-- a comparison with any
SELECT station FROM station WHERE docks = ANY (ARRAY[8, 12])
=>
station   valid_from   valid_to
───────────────────────────────
mill               0          ∞
quay               0          ∞

-- greatest of all
SELECT station FROM station WHERE docks >= ALL (SELECT docks FROM station WHERE docks IS NOT NULL)
=>
station   valid_from   valid_to
───────────────────────────────
quay               0          ∞

-- a scalar subquery of many rows
SELECT (SELECT docks FROM station) AS d FROM station
=>
error: a subquery that stands for a value can have several rows
  line 1, column 16
    SELECT (SELECT docks FROM station) AS d FROM station
                   ^^^^^^^^^^^^^^^^^^
help: aggregate it without GROUP BY, add LIMIT 1, or compare with = ANY (...)

-- order by a place
SELECT town, COUNT(*) AS n FROM station GROUP BY 1 ORDER BY 2 DESC LIMIT 1
=>
town    n   valid_from   valid_to
─────────────────────────────────
Leith   2            0          ∞

-- the instant now
SELECT bike FROM hire WHERE ts > now() - INTERVAL '5 minutes'
=>
error: `now` has another value whenever it is computed
  line 1, column 34
    SELECT bike FROM hire WHERE ts > now() - INTERVAL '5 minutes'
                                     ^^^
help: use the time column of the stream, or a column with the value

-- a transaction
BEGIN; SELECT bike FROM hire; COMMIT
=>
error: a statement cannot start with `BEGIN`
  line 1, column 1
    BEGIN; SELECT bike FROM hire; COMMIT
    ^^^^^
help: leave it out: every statement takes effect as a whole

-- a setting
SET cluster = 'default'
=>
error: a statement cannot start with `SET`
  line 1, column 1
    SET cluster = 'default'
    ^^^
help: settings are those of the engine: tidemill.Engine(...), or options of `tidemill serve`

-- a source
CREATE SOURCE hires FROM KAFKA CONNECTION kafka (TOPIC 'hires') FORMAT JSON
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `SOURCE`
  line 1, column 8
    CREATE SOURCE hires FROM KAFKA CONNECTION kafka (TOPIC 'hires') FORMAT JSON
           ^^^^^^
help: write CREATE STREAM name (columns) SOURCE kafka(...) ORDERED BY ts

-- a sink
CREATE SINK out FROM hire INTO KAFKA CONNECTION kafka (TOPIC 'out') FORMAT JSON
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `SINK`
  line 1, column 8
    CREATE SINK out FROM hire INTO KAFKA CONNECTION kafka (TOPIC 'out') FORMAT JSON
           ^^^^
help: write CREATE QUERY name AS INSERT INTO parquet(path => '...') SELECT ...

-- an insert with a returning clause
INSERT INTO member VALUES ('eve', 'gold') RETURNING rider
=>
error: `RETURNING` is not supported
  line 1, column 43
    INSERT INTO member VALUES ('eve', 'gold') RETURNING rider
                                              ^^^^^^^^^
help: leave it out, and SELECT from the relation

-- rows that leave
DELETE FROM member WHERE rider = 'bob' AT TIMESTAMP '2024-05-01 09:30:00';
SELECT rider, level FROM member WHERE rider = 'bob'
=>
rider   level   valid_from            valid_to
─────────────────────────────────────────────────────────
bob     iron    2024-05-01 09:04:00   2024-05-01 09:30:00

-- the plan of a query
EXPLAIN SELECT bike FROM hire WHERE fare > 3
=>
plan
──────────────────────────────────────────────────────
logical
01 Project [bike := hire.bike]
02   Filter hire.fare > 3
03     Scan hire columns=[bike, rider, fare, km, tags]

-- the columns of a table
SHOW COLUMNS FROM hire
=>
column   type
──────────────────────
bike     STRING
rider    STRING
fare     DECIMAL(3, 2)
km       DOUBLE
tags     ARRAY<STRING>
ts       TIMESTAMP

-- a lock on rows
SELECT station FROM station FOR UPDATE
=>
error: FOR UPDATE is not supported
  line 1, column 8
    SELECT station FROM station FOR UPDATE
           ^^^^^^^^^^^^^^^^^^^^
help: leave it out: what a query reads cannot change under it

-- overlapping periods
SELECT bike FROM hire WHERE (ts, ts + INTERVAL '5 minutes') OVERLAPS (TIMESTAMP '2024-05-01 09:00:00', TIMESTAMP '2024-05-01 09:06:00')
=>
error: `(`hire.ts`, `hire.ts` + INTERVAL '5' MINUTES) OVERLAPS (CAST('2024-05-01 09:00:00' AS TIMESTAMP), CAST('2024-05-01 09:06:00' AS TIMESTAMP))` is not supported
  line 1, column 29
    SELECT bike FROM hire WHERE (ts, ts + INTERVAL '5 minutes') OVERLAPS (TIMESTAMP '2024-05-01 09:00:00', TIMESTAMP '2024-05-01 09:06:00')
                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: compare the ends: a.begin < b.end AND b.begin < a.end

-- a frame that leaves rows out
SELECT station, SUM(docks) OVER (ORDER BY station ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS n FROM station
=>
error: EXCLUDE in a frame is not supported
  line 1, column 17
    SELECT station, SUM(docks) OVER (ORDER BY station ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS n FROM station
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: leave EXCLUDE out

-- several columns in a subquery
SELECT station FROM station WHERE (station, town) IN (SELECT * FROM VALUES ('quay', 'Leith'), ('moor', 'Leith'))
=>
station   valid_from   valid_to
───────────────────────────────
quay               0          ∞

-- no keys
SELECT COUNT(*) AS n FROM station GROUP BY ()
=>
n   valid_from   valid_to
─────────────────────────
3            0          ∞

-- a list out of an aggregate
SELECT u.x FROM (SELECT ARRAY_AGG(station) AS list FROM station) AS l CROSS JOIN UNNEST(l.list) AS u(x)
=>
x      valid_from   valid_to
────────────────────────────
mill            0          ∞
moor            0          ∞
quay            0          ∞

-- drop a table
DROP TABLE station
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `TABLE`
  line 1, column 6
    DROP TABLE station
         ^^^^^
help: write DROP STREAM, DROP RELATION, DROP VIEW or DROP QUERY
