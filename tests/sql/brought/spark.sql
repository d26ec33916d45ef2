-- a count in windows of time
SELECT window, bike, COUNT(*) AS n FROM hire GROUP BY window(ts, '10 minutes'), bike
=>
window                                                           bike   n   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
{"start": "2024-05-01T09:00:00", "end": "2024-05-01T09:10:00"}   b1     2   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
{"start": "2024-05-01T09:00:00", "end": "2024-05-01T09:10:00"}   b2     1   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
{"start": "2024-05-01T09:10:00", "end": "2024-05-01T09:20:00"}   b2     1   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
{"start": "2024-05-01T09:10:00", "end": "2024-05-01T09:20:00"}   b3     1   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
{"start": "2024-05-01T09:30:00", "end": "2024-05-01T09:40:00"}   b1     1   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- windows that slide
SELECT window.start, window.end, COUNT(*) AS n FROM hire GROUP BY window(ts, '10 minutes', '5 minutes')
=>
start                 end                   n   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 08:55:00   2024-05-01 09:05:00   1   2024-05-01 09:04:59.999999   2024-05-01 09:09:59.999999
2024-05-01 09:00:00   2024-05-01 09:10:00   3   2024-05-01 09:09:59.999999   2024-05-01 09:14:59.999999
2024-05-01 09:05:00   2024-05-01 09:15:00   3   2024-05-01 09:14:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:10:00   2024-05-01 09:20:00   2   2024-05-01 09:19:59.999999   2024-05-01 09:24:59.999999
2024-05-01 09:15:00   2024-05-01 09:25:00   1   2024-05-01 09:24:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:25:00   2024-05-01 09:35:00   1   2024-05-01 09:34:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:30:00   2024-05-01 09:40:00   1   2024-05-01 09:39:59.999999   2024-05-01 09:44:59.999999

-- windows that start later
SELECT window.start, COUNT(*) AS n FROM hire GROUP BY window(ts, '10 minutes', '10 minutes', '2 minutes')
=>
error: an offset is not supported: windows are counted from 1970-01-01 00:00 UTC
  line 1, column 94
    SELECT window.start, COUNT(*) AS n FROM hire GROUP BY window(ts, '10 minutes', '10 minutes', '2 minutes')
                                                                                                 ^^^^^^^^^^^
help: leave the offset out

-- windows of sessions
SELECT session_window.start, bike, COUNT(*) AS n FROM hire GROUP BY session_window(ts, '5 minutes'), bike
=>
start                 bike   n   valid_from                   valid_to
─────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:02:00   b1     1   2024-05-01 09:06:59.999999   2024-05-01 09:07:00
2024-05-01 09:05:00   b2     1   2024-05-01 09:09:59.999999   2024-05-01 09:10:00
2024-05-01 09:09:00   b1     1   2024-05-01 09:13:59.999999   2024-05-01 09:14:00
2024-05-01 09:13:00   b3     1   2024-05-01 09:17:59.999999   2024-05-01 09:18:00
2024-05-01 09:17:00   b2     1   2024-05-01 09:21:59.999999   2024-05-01 09:22:00
2024-05-01 09:34:00   b1     1   2024-05-01 09:38:59.999999   2024-05-01 09:39:00

-- the time of a window
SELECT window_time(window) AS t, n
FROM (SELECT window, COUNT(*) AS n FROM hire GROUP BY window(ts, '10 minutes'))
=>
t                            n   valid_from                   valid_to
────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:09:59.999999   3   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:19:59.999999   2   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:39:59.999999   1   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- a watermark
SELECT bike FROM hire WATERMARK ts DELAY OF INTERVAL 10 MINUTES
=>
error: `WATERMARK` is not supported
  line 1, column 23
    SELECT bike FROM hire WATERMARK ts DELAY OF INTERVAL 10 MINUTES
                          ^^^^^^^^^
help: say it where the stream is declared: ORDERED BY ts SLACK 10 MINUTES

-- a join of streams within a time
SELECT h.rider, e.station FROM hire h JOIN ending e
ON h.bike = e.bike AND e.ts >= h.ts AND e.ts <= h.ts + INTERVAL 15 MINUTES
=>
warning: `h` and `e` have no windows: this joins rows of the same microsecond only
  line 1, column 44
    SELECT h.rider, e.station FROM hire h JOIN ending e
                                               ^^^^^^^^
help: did you mean hire WINDOW(RANGE 1 HOUR), for partners that come within an hour?
no rows

-- a stream joined with a table
SELECT e.bike, s.town FROM ending e JOIN station s ON e.station = s.station
=>
bike   town    valid_from            valid_to
───────────────────────────────────────────────────────────────
b1     Leith   2024-05-01 09:07:00   2024-05-01 09:07:00.000001
b2     Leith   2024-05-01 09:16:00   2024-05-01 09:16:00.000001
b1     Leith   2024-05-01 09:20:00   2024-05-01 09:20:00.000001
b3     Crail   2024-05-01 09:21:00   2024-05-01 09:21:00.000001

-- a left outer join with USING
SELECT station, e.bike, s.docks FROM station s LEFT JOIN ending e WINDOW(RANGE 10 MINUTES) USING (station)
=>
station   bike   docks   valid_from            valid_to
──────────────────────────────────────────────────────────────────
quay      NULL      12   1970-01-01 00:00:00   2024-05-01 09:07:00
mill      NULL       8   1970-01-01 00:00:00   2024-05-01 09:16:00
moor      NULL    NULL   1970-01-01 00:00:00   2024-05-01 09:21:00
quay      b1        12   2024-05-01 09:07:00   2024-05-01 09:17:00
mill      b2         8   2024-05-01 09:16:00   2024-05-01 09:26:00
quay      NULL      12   2024-05-01 09:17:00   2024-05-01 09:20:00
quay      b1        12   2024-05-01 09:20:00   2024-05-01 09:30:00
moor      b3      NULL   2024-05-01 09:21:00   2024-05-01 09:31:00
mill      NULL       8   2024-05-01 09:26:00   ∞
quay      NULL      12   2024-05-01 09:30:00   ∞
moor      NULL    NULL   2024-05-01 09:31:00   ∞

-- a left semi join
SELECT * FROM station s LEFT SEMI JOIN ending e WINDOW(RANGE 5 MINUTES) ON s.station = e.station
=>
station   town    docks   valid_from            valid_to
───────────────────────────────────────────────────────────────────
quay      Leith      12   2024-05-01 09:07:00   2024-05-01 09:12:00
mill      Leith       8   2024-05-01 09:16:00   2024-05-01 09:21:00
quay      Leith      12   2024-05-01 09:20:00   2024-05-01 09:25:00
moor      Crail    NULL   2024-05-01 09:21:00   2024-05-01 09:26:00

-- a left anti join
SELECT station FROM station s LEFT ANTI JOIN ending e WINDOW(RANGE UNBOUNDED) ON s.station = e.station
=>
station   valid_from            valid_to
───────────────────────────────────────────────────
quay      1970-01-01 00:00:00   2024-05-01 09:07:00
mill      1970-01-01 00:00:00   2024-05-01 09:16:00
moor      1970-01-01 00:00:00   2024-05-01 09:21:00

-- a natural join
SELECT bike, station, town FROM ending NATURAL JOIN station
=>
bike   station   town    valid_from            valid_to
─────────────────────────────────────────────────────────────────────────
b1     quay      Leith   2024-05-01 09:07:00   2024-05-01 09:07:00.000001
b2     mill      Leith   2024-05-01 09:16:00   2024-05-01 09:16:00.000001
b1     quay      Leith   2024-05-01 09:20:00   2024-05-01 09:20:00.000001
b3     moor      Crail   2024-05-01 09:21:00   2024-05-01 09:21:00.000001

-- a full join
SELECT h.bike, e.station FROM hire h WINDOW(RANGE 2 MINUTES) FULL OUTER JOIN ending e WINDOW(RANGE 2 MINUTES)
ON h.bike = e.bike WHERE h.rider = 'cy' OR e.station = 'quay'
=>
bike   station   valid_from            valid_to
──────────────────────────────────────────────────────────
NULL   quay      2024-05-01 09:07:00   2024-05-01 09:09:00
b1     NULL      2024-05-01 09:09:00   2024-05-01 09:11:00
NULL   quay      2024-05-01 09:20:00   2024-05-01 09:22:00

-- a cross join
SELECT e.bike, s.town FROM ending e CROSS JOIN station s WHERE s.docks > 10
=>
bike   town    valid_from            valid_to
───────────────────────────────────────────────────────────────
b1     Leith   2024-05-01 09:07:00   2024-05-01 09:07:00.000001
b2     Leith   2024-05-01 09:16:00   2024-05-01 09:16:00.000001
b1     Leith   2024-05-01 09:20:00   2024-05-01 09:20:00.000001
b3     Leith   2024-05-01 09:21:00   2024-05-01 09:21:00.000001

-- a lateral join
SELECT s.town, x.bikes FROM station s, LATERAL (
  SELECT COUNT(*) AS bikes FROM ending e WINDOW(RANGE 10 MINUTES) WHERE e.station = s.station) AS x
=>
town    bikes   valid_from            valid_to
─────────────────────────────────────────────────────────
Leith       1   2024-05-01 09:07:00   2024-05-01 09:17:00
Leith       1   2024-05-01 09:16:00   2024-05-01 09:26:00
Leith       1   2024-05-01 09:20:00   2024-05-01 09:30:00
Crail       1   2024-05-01 09:21:00   2024-05-01 09:31:00

-- grouping sets
SELECT town, station, SUM(docks) AS docks FROM station GROUP BY GROUPING SETS ((town, station), (town), ())
=>
town    station   docks   valid_from   valid_to
───────────────────────────────────────────────
NULL    NULL         20            0          ∞
Crail   NULL       NULL            0          ∞
Crail   moor       NULL            0          ∞
Leith   NULL         20            0          ∞
Leith   mill          8            0          ∞
Leith   quay         12            0          ∞

-- grouping sets after the keys
SELECT town, station, SUM(docks) AS docks FROM station GROUP BY town, station GROUPING SETS ((town, station), (town))
=>
town    station   docks   valid_from   valid_to
───────────────────────────────────────────────
Crail   NULL       NULL            0          ∞
Crail   moor       NULL            0          ∞
Leith   NULL         20            0          ∞
Leith   mill          8            0          ∞
Leith   quay         12            0          ∞

-- with rollup at the end
SELECT town, SUM(docks) AS docks FROM station GROUP BY town WITH ROLLUP
=>
town    docks   valid_from   valid_to
─────────────────────────────────────
NULL       20            0          ∞
Crail    NULL            0          ∞
Leith      20            0          ∞

-- a cube
SELECT town, station, GROUPING_ID(town, station) AS g, SUM(docks) AS docks FROM station GROUP BY CUBE (town, station)
=>
town    station   g   docks   valid_from   valid_to
───────────────────────────────────────────────────
NULL    NULL      3      20            0          ∞
NULL    mill      2       8            0          ∞
NULL    moor      2    NULL            0          ∞
NULL    quay      2      12            0          ∞
Crail   NULL      1    NULL            0          ∞
Crail   moor      0    NULL            0          ∞
Leith   NULL      1      20            0          ∞
Leith   mill      0       8            0          ∞
Leith   quay      0      12            0          ∞

-- an aggregate with a filter
SELECT SUM(docks) FILTER (WHERE town = 'Leith') AS leith, SUM(docks) AS docks FROM station
=>
leith   docks   valid_from   valid_to
─────────────────────────────────────
   20      20            0          ∞

-- first and last
SELECT FIRST(docks) AS f, LAST(docks, TRUE) AS l FROM station
=>
error: `FIRST` goes by the time of a stream, and FROM has nothing with a time column
  line 1, column 8
    SELECT FIRST(docks) AS f, LAST(docks, TRUE) AS l FROM station
           ^^^^^^^^^^^^
help: name what orders the rows: MIN_BY(price, ts); a subquery in FROM has to select it

-- any value
SELECT town, ANY_VALUE(station) AS one FROM station GROUP BY town
=>
town    one    valid_from   valid_to
────────────────────────────────────
Crail   moor            0          ∞
Leith   mill            0          ∞

-- group by all
SELECT town, COUNT(*) AS n FROM station GROUP BY ALL
=>
town    n   valid_from   valid_to
─────────────────────────────────
Crail   1            0          ∞
Leith   2            0          ∞

-- ranks
SELECT station, RANK() OVER (PARTITION BY town ORDER BY docks DESC) AS place FROM station
=>
station   place   valid_from   valid_to
───────────────────────────────────────
mill          2            0          ∞
moor          1            0          ∞
quay          1            0          ∞

-- a mean of the last rows
SELECT rider, ts, AVG(km) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean
FROM hire WINDOW(RANGE UNBOUNDED)
=>
warning: OVER keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 11
    FROM hire WINDOW(RANGE UNBOUNDED)
              ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
rider   ts                           mean   valid_from            valid_to
─────────────────────────────────────────────────────────────────────────────────────
ann     2024-05-01 09:02:00           2.5   2024-05-01 09:02:00   2024-05-01 09:34:00
bob     2024-05-01 09:05:00          1.75   2024-05-01 09:05:00   2024-05-01 09:34:00
cy      2024-05-01 09:09:00   3.666666667   2024-05-01 09:09:00   2024-05-01 09:34:00
ann     2024-05-01 09:13:00   4.166666667   2024-05-01 09:13:00   2024-05-01 09:34:00
dee     2024-05-01 09:17:00          5.75   2024-05-01 09:17:00   2024-05-01 09:34:00
ann     2024-05-01 09:02:00           2.5   2024-05-01 09:34:00   ∞
ann     2024-05-01 09:13:00   4.166666667   2024-05-01 09:34:00   ∞
ann     2024-05-01 09:34:00           3.5   2024-05-01 09:34:00   ∞
bob     2024-05-01 09:05:00          1.75   2024-05-01 09:34:00   ∞
cy      2024-05-01 09:09:00   3.666666667   2024-05-01 09:34:00   ∞
dee     2024-05-01 09:17:00          5.75   2024-05-01 09:34:00   ∞

-- the value of the row before
SELECT bike, rider, LAG(rider, 1, 'none') OVER (PARTITION BY bike ORDER BY ts) AS earlier
FROM hire WINDOW(RANGE UNBOUNDED)
=>
warning: OVER keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 11
    FROM hire WINDOW(RANGE UNBOUNDED)
              ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   rider   earlier   valid_from            valid_to
──────────────────────────────────────────────────────────────────
b1     ann     none      2024-05-01 09:02:00   2024-05-01 09:34:00
b2     bob     none      2024-05-01 09:05:00   2024-05-01 09:17:00
b1     cy      ann       2024-05-01 09:09:00   2024-05-01 09:34:00
b3     ann     none      2024-05-01 09:13:00   ∞
b2     bob     none      2024-05-01 09:17:00   ∞
b2     dee     bob       2024-05-01 09:17:00   ∞
b1     ann     cy        2024-05-01 09:34:00   ∞
b1     ann     none      2024-05-01 09:34:00   ∞
b1     cy      ann       2024-05-01 09:34:00   ∞

-- a condition on a rank
SELECT town, station FROM station QUALIFY ROW_NUMBER() OVER (PARTITION BY town ORDER BY docks DESC) = 1
=>
town    station   valid_from   valid_to
───────────────────────────────────────
Crail   moor               0          ∞
Leith   quay               0          ∞

-- a lateral view
SELECT rider, tag FROM hire LATERAL VIEW EXPLODE(tags) t AS tag
=>
rider   tag    valid_from            valid_to
───────────────────────────────────────────────────────────────
ann     city   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
ann     rain   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     city   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
ann     park   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
ann     park   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
ann     rain   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- an outer lateral view
SELECT rider, tag FROM hire LATERAL VIEW OUTER EXPLODE(tags) t AS tag
=>
rider   tag    valid_from            valid_to
───────────────────────────────────────────────────────────────
ann     city   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
ann     rain   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     city   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
cy      NULL   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
ann     park   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
dee     NULL   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
ann     park   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
ann     rain   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a list and its places
SELECT rider, pos, col FROM hire LATERAL VIEW POSEXPLODE(tags) t AS pos, col
=>
rider   pos   col    valid_from            valid_to
─────────────────────────────────────────────────────────────────────
ann       0   city   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
ann       1   rain   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob       0   city   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
ann       0   park   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
ann       0   rain   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
ann       1   park   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- explode in the select list
SELECT bike, EXPLODE(tags) AS tag FROM hire
=>
bike   tag    valid_from            valid_to
──────────────────────────────────────────────────────────────
b1     city   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b1     rain   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     city   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b3     park   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b1     park   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
b1     rain   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- inline rows of structs
SELECT * FROM INLINE(ARRAY(STRUCT(1 AS a, 'x' AS b), STRUCT(2 AS a, 'y' AS b)))
=>
a   b   valid_from   valid_to
─────────────────────────────
1   x            0          ∞
2   y            0          ∞

-- the table function range
SELECT id FROM RANGE(0, 3)
=>
error: table functions are not supported
  line 1, column 16
    SELECT id FROM RANGE(0, 3)
                   ^^^^^^^^^^^
help: unnest a list: UNNEST(sequence(1, 3)) AS s(n)

-- stack
SELECT STACK(2, 1, 2, 3, 4)
=>
error: `STACK` makes several rows of one, so it stands alone
  line 1, column 8
    SELECT STACK(2, 1, 2, 3, 4)
           ^^^^^^^^^^^^^^^^^^^^
help: write VALUES (1, 2), (3, 4), or UNNEST(ARRAY(...))

-- an inline table
SELECT * FROM VALUES ('lock', 2), ('bell', 5) AS t(item, amount)
=>
item   amount   valid_from   valid_to
─────────────────────────────────────
bell        5            0          ∞
lock        2            0          ∞

-- a select without FROM
SELECT 1 + 1 AS two
=>
two   valid_from   valid_to
───────────────────────────
  2            0          ∞

-- pivot
SELECT * FROM (SELECT bike, rider, fare FROM hire WINDOW(RANGE UNBOUNDED))
PIVOT (SUM(fare) FOR bike IN ('b1', 'b2'))
=>
error: PIVOT is not supported behind an entry of FROM
  line 1, column 23
    SELECT * FROM (SELECT bike, rider, fare FROM hire WINDOW(RANGE UNBOUNDED))
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write an aggregate for each column: SUM(x) FILTER (WHERE kind = 'a') AS a; for UNPIVOT, CROSS JOIN UNNEST(ARRAY(a, b))

-- pivot by filters
SELECT rider, SUM(fare) FILTER (WHERE bike = 'b1') AS b1, SUM(fare) FILTER (WHERE bike = 'b2') AS b2
FROM hire WINDOW(RANGE UNBOUNDED) GROUP BY rider
=>
rider     b1     b2   valid_from            valid_to
───────────────────────────────────────────────────────────────
ann     4.00   NULL   2024-05-01 09:02:00   2024-05-01 09:13:00
bob     NULL   2.50   2024-05-01 09:05:00   ∞
cy      6.00   NULL   2024-05-01 09:09:00   ∞
ann     4.00   NULL   2024-05-01 09:13:00   2024-05-01 09:34:00
dee     NULL   NULL   2024-05-01 09:17:00   ∞
ann     9.00   NULL   2024-05-01 09:34:00   ∞

-- unpivot
SELECT * FROM station UNPIVOT (value FOR name IN (docks))
=>
error: PIVOT is not supported behind an entry of FROM
  line 1, column 15
    SELECT * FROM station UNPIVOT (value FOR name IN (docks))
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write an aggregate for each column: SUM(x) FILTER (WHERE kind = 'a') AS a; for UNPIVOT, CROSS JOIN UNNEST(ARRAY(a, b))

-- a sample
SELECT * FROM station TABLESAMPLE (50 PERCENT)
=>
error: TABLESAMPLE is not supported behind an entry of FROM
  line 1, column 15
    SELECT * FROM station TABLESAMPLE (50 PERCENT)
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: choose rows by a value: WHERE pmod(id, 10) = 0

-- a common table expression with columns
WITH busy (bike, n) AS (SELECT bike, COUNT(*) FROM hire WINDOW(RANGE UNBOUNDED) GROUP BY bike)
SELECT bike FROM busy WHERE n > 1
=>
bike   valid_from            valid_to
────────────────────────────────────────────────
b1     2024-05-01 09:09:00   2024-05-01 09:34:00
b2     2024-05-01 09:17:00   ∞
b1     2024-05-01 09:34:00   ∞

-- a recursive common table expression
WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
=>
error: `WITH RECURSIVE` is not supported
  line 1, column 1
    WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
    ^^^^^^^^^^^^^^
help: write the steps out as queries of their own

-- minus
SELECT station FROM station MINUS SELECT station FROM ending WINDOW(RANGE UNBOUNDED)
=>
station   valid_from            valid_to
───────────────────────────────────────────────────
quay      1970-01-01 00:00:00   2024-05-01 09:07:00
mill      1970-01-01 00:00:00   2024-05-01 09:16:00
moor      1970-01-01 00:00:00   2024-05-01 09:21:00

-- intersect all
SELECT bike FROM hire WINDOW(RANGE 20 MINUTES) INTERSECT ALL SELECT bike FROM ending WINDOW(RANGE 20 MINUTES)
=>
bike   valid_from            valid_to
────────────────────────────────────────────────
b1     2024-05-01 09:07:00   2024-05-01 09:29:00
b2     2024-05-01 09:16:00   2024-05-01 09:36:00
b1     2024-05-01 09:20:00   2024-05-01 09:22:00
b3     2024-05-01 09:21:00   2024-05-01 09:33:00
b1     2024-05-01 09:34:00   2024-05-01 09:40:00

-- union by name
SELECT bike, rider FROM hire UNION BY NAME SELECT 'x' AS rider, bike FROM ending
=>
bike   rider   valid_from            valid_to
───────────────────────────────────────────────────────────────
b1     ann     2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     bob     2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     x       2024-05-01 09:07:00   2024-05-01 09:07:00.000001
b1     cy      2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b3     ann     2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2     x       2024-05-01 09:16:00   2024-05-01 09:16:00.000001
b2     dee     2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1     x       2024-05-01 09:20:00   2024-05-01 09:20:00.000001
b3     x       2024-05-01 09:21:00   2024-05-01 09:21:00.000001
b1     ann     2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- distribution and order within partitions
SELECT bike FROM hire DISTRIBUTE BY bike SORT BY bike
=>
error: DISTRIBUTE BY is not supported
  line 1, column 37
    SELECT bike FROM hire DISTRIBUTE BY bike SORT BY bike
                                        ^^^^
help: leave it out: queries are partitioned as they need

-- cluster by
SELECT bike FROM hire CLUSTER BY bike
=>
error: CLUSTER BY is not supported
  line 1, column 34
    SELECT bike FROM hire CLUSTER BY bike
                                     ^^^^
help: leave it out: queries are partitioned as they need

-- limit and offset
SELECT station, docks FROM station ORDER BY docks DESC NULLS LAST LIMIT 1 OFFSET 1
=>
station   docks   valid_from   valid_to
───────────────────────────────────────
mill          8            0          ∞

-- a correlated subquery
SELECT rider, fare FROM hire h WINDOW(RANGE 10 MINUTES)
WHERE fare = (SELECT MAX(fare) FROM hire x WINDOW(RANGE 10 MINUTES) WHERE x.bike = h.bike)
=>
rider   fare   valid_from            valid_to
────────────────────────────────────────────────────────
ann     4.00   2024-05-01 09:02:00   2024-05-01 09:09:00
bob     2.50   2024-05-01 09:05:00   2024-05-01 09:15:00
cy      6.00   2024-05-01 09:09:00   2024-05-01 09:19:00
ann     3.00   2024-05-01 09:13:00   2024-05-01 09:23:00
ann     5.00   2024-05-01 09:34:00   2024-05-01 09:44:00

-- not in
SELECT station FROM station WHERE station NOT IN (SELECT station FROM ending WINDOW(RANGE UNBOUNDED))
=>
station   valid_from            valid_to
───────────────────────────────────────────────────
quay      1970-01-01 00:00:00   2024-05-01 09:07:00
mill      1970-01-01 00:00:00   2024-05-01 09:16:00
moor      1970-01-01 00:00:00   2024-05-01 09:21:00

-- star except
SELECT * EXCEPT (docks) FROM station
=>
station   town    valid_from   valid_to
───────────────────────────────────────
mill      Leith            0          ∞
moor      Crail            0          ∞
quay      Leith            0          ∞

-- a lambda
SELECT TRANSFORM(tags, t -> UPPER(t)) AS tags FROM hire
=>
tags               valid_from            valid_to
───────────────────────────────────────────────────────────────────
["CITY", "RAIN"]   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
["CITY"]           2024-05-01 09:05:00   2024-05-01 09:05:00.000001
[]                 2024-05-01 09:09:00   2024-05-01 09:09:00.000001
["PARK"]           2024-05-01 09:13:00   2024-05-01 09:13:00.000001
NULL               2024-05-01 09:17:00   2024-05-01 09:17:00.000001
["RAIN", "PARK"]   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- cast and try_cast
SELECT CAST(docks AS STRING) AS s, TRY_CAST(station AS INT) AS i, docks::DOUBLE AS d FROM station
=>
s         i      d   valid_from   valid_to
──────────────────────────────────────────
NULL   NULL   NULL            0          ∞
12     NULL     12            0          ∞
8      NULL      8            0          ∞

-- patterns of texts
SELECT station FROM station WHERE station LIKE 'm%' AND station RLIKE '^m' AND station NOT LIKE ALL ('%z', 'q%')
=>
station   valid_from   valid_to
───────────────────────────────
mill               0          ∞
moor               0          ∞

-- like any
SELECT station FROM station WHERE station LIKE ANY ('m%l', 'q%')
=>
station   valid_from   valid_to
───────────────────────────────
mill               0          ∞
quay               0          ∞

-- trunc and format
SELECT DATE_TRUNC('HOUR', ts) AS h, DATE_FORMAT(ts, 'HH:mm') AS t, ts + INTERVAL 1 DAY AS later FROM hire WHERE rider = 'cy'
=>
h                     t       later                 valid_from            valid_to
────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   09:09   2024-05-02 09:09:00   2024-05-01 09:09:00   2024-05-01 09:09:00.000001

-- a random number
SELECT rider, RAND() AS r FROM hire
=>
error: `RAND` has another value whenever it is computed
  line 1, column 15
    SELECT rider, RAND() AS r FROM hire
                  ^^^^
help: use the time column of the stream, or a column with the value

-- hints for joins
SELECT /*+ BROADCAST(s) */ e.bike, s.town FROM ending e JOIN station s ON e.station = s.station
=>
error: unknown hint `BROADCAST`
  line 1, column 12
    SELECT /*+ BROADCAST(s) */ e.bike, s.town FROM ending e JOIN station s ON e.station = s.station
               ^^^^^^^^^
help: leave it out: joins find their own way; hints: RATE, ROWS, DISTINCT, SELECTIVITY, ORDER, EARLY, LATE, RANK

-- pipes
FROM station |> WHERE docks > 10 |> SELECT station
=>
station   valid_from   valid_to
───────────────────────────────
quay               0          ∞

-- a temporary view
CREATE OR REPLACE TEMPORARY VIEW busy AS SELECT bike FROM hire
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `TEMPORARY`
  line 1, column 19
    CREATE OR REPLACE TEMPORARY VIEW busy AS SELECT bike FROM hire
                      ^^^^^^^^^
help: write CREATE VIEW: it lasts as long as the engine

-- a view
CREATE OR REPLACE VIEW busy AS SELECT bike, COUNT(*) AS n FROM hire WINDOW(RANGE 10 MINUTES) GROUP BY bike;
SELECT bike, n FROM busy WHERE n > 1
=>
bike   n   valid_from            valid_to
────────────────────────────────────────────────────
b1     2   2024-05-01 09:09:00   2024-05-01 09:12:00

-- insert overwrite
INSERT OVERWRITE totals SELECT bike FROM hire
=>
error: expected INTO, found `OVERWRITE`
  line 1, column 8
    INSERT OVERWRITE totals SELECT bike FROM hire
           ^^^^^^^^^
help: write INSERT INTO format(option => value) SELECT ...

-- rows into a relation
INSERT INTO member VALUES ('eve', 'gold') AT TIMESTAMP '2024-05-01 09:30:00';
SELECT rider, level FROM member WHERE level = 'gold'
=>
rider   level   valid_from            valid_to
─────────────────────────────────────────────────────────
ann     gold    2024-05-01 09:00:00   2024-05-01 09:10:00
eve     gold    2024-05-01 09:30:00   ∞

-- the names of tables
SHOW TABLES
=>
name      kind
──────────────────
hire      stream
ending    stream
station   relation
tariff    relation
member    relation

-- the columns of a table
SHOW COLUMNS IN hire
=>
column   type
──────────────────────
bike     STRING
rider    STRING
fare     DECIMAL(3, 2)
km       DOUBLE
tags     ARRAY<STRING>
ts       TIMESTAMP

-- the plan of a query, formatted
EXPLAIN FORMATTED SELECT station FROM station
=>
plan
──────────────────────────────────────────────────
physical
01 ProjectExec [station := station.station]
02   SourceExec station columns=[station] constant

-- the plan of a query, extended
EXPLAIN EXTENDED SELECT station FROM station
=>
plan
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
verbose
01 Project [station := station.station]
02   Scan station columns=[station, town, docks] constant
prune_columns: Read only the columns that something needs
01 Project [station := station.station]
02   Scan station columns=[station] constant
unchanged by simplify_filters, remove_empty_parts, cancel_difference, remove_now_windows, merge_projects, merge_filters, take_first_rows, compare_with_extremes, join_on_filters, derive_filters,
push_filters, replace_semi_joins, remove_distinct, push_distinct, push_projects, push_windows, aggregate_early, rank_objects, order_joins

-- the statement that made something
CREATE VIEW busy AS SELECT bike FROM hire;
SHOW CREATE TABLE busy
=>
statement
─────────────────────────────────────────
CREATE VIEW busy AS SELECT bike FROM hire

-- merge into
MERGE INTO member USING hire ON member.rider = hire.rider WHEN MATCHED THEN DELETE
=>
error: a statement cannot start with `MERGE`
  line 1, column 1
    MERGE INTO member USING hire ON member.rider = hire.rider WHEN MATCHED THEN DELETE
    ^^^^^
help: write DELETE FROM and INSERT INTO, both with the same AT

-- an update
UPDATE member SET level = 'iron' WHERE rider = 'ann'
=>
error: a statement cannot start with `UPDATE`
  line 1, column 1
    UPDATE member SET level = 'iron' WHERE rider = 'ann'
    ^^^^^^
help: write DELETE FROM and INSERT INTO, both with the same AT

-- an as-of version
SELECT * FROM station VERSION AS OF 1
=>
error: AS OF is not supported behind an entry of FROM
  line 1, column 15
    SELECT * FROM station VERSION AS OF 1
                  ^^^^^^^^^^^^^^^^^^^^^^^
help: leave it out: a row of a stream without a window meets the rows that hold at its instant, and query.snapshot(instant) is the answer at an instant

-- a generated series of dates
SELECT EXPLODE(SEQUENCE(1, 3)) AS n FROM station
=>
n   valid_from   valid_to
─────────────────────────
1            0          ∞
1            0          ∞
1            0          ∞
2            0          ∞
2            0          ∞
2            0          ∞
3            0          ∞
3            0          ∞
3            0          ∞

-- more pipes
FROM station |> EXTEND docks * 2 AS twice |> AGGREGATE SUM(twice) AS total GROUP BY town |> WHERE total > 1
=>
town    total   valid_from   valid_to
─────────────────────────────────────
Leith      40            0          ∞

-- a pipe that changes a column
FROM station |> SET docks = 1
=>
error: `|> SET` is not supported
  line 1, column 17
    FROM station |> SET docks = 1
                    ^^^
help: there are SELECT, EXTEND, WHERE, AGGREGATE, DISTINCT, JOIN, ORDER BY, LIMIT and set operations

-- an as-of join
SELECT h.rider, e.station FROM hire h ASOF JOIN ending e ON h.bike = e.bike AND h.ts >= e.ts
=>
error: ASOF JOIN is not supported
  line 1, column 49
    SELECT h.rider, e.station FROM hire h ASOF JOIN ending e ON h.bike = e.bike AND h.ts >= e.ts
                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: for the newest partner, write JOIN b WINDOW(PARTITION BY id ROWS 1) ON ...

-- the newest partner
SELECT h.rider, e.station FROM hire h JOIN ending e WINDOW(PARTITION BY bike ROWS 1) ON h.bike = e.bike
=>
rider   station   valid_from            valid_to
──────────────────────────────────────────────────────────────────
cy      quay      2024-05-01 09:09:00   2024-05-01 09:09:00.000001
dee     mill      2024-05-01 09:17:00   2024-05-01 09:17:00.000001
ann     quay      2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- star replace
SELECT * REPLACE (docks + 1 AS docks) FROM station
=>
station   town    docks   valid_from   valid_to
───────────────────────────────────────────────
mill      Leith       9            0          ∞
moor      Crail    NULL            0          ∞
quay      Leith      13            0          ∞

-- a field of a struct
SELECT NAMED_STRUCT('s', station, 't', town).s AS s FROM station
=>
s      valid_from   valid_to
────────────────────────────
mill            0          ∞
moor            0          ∞
quay            0          ∞

-- a script in another language
SELECT TRANSFORM(bike) USING 'cat' AS (x) FROM hire
=>
error: `TRANSFORM(`hire.bike`) USING 'cat' AS (x)` is not supported
  line 1, column 8
    SELECT TRANSFORM(bike) USING 'cat' AS (x) FROM hire
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write it in Python and register it with engine.function(...)
