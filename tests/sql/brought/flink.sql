-- a tumbling window, aggregated
SELECT window_start, window_end, SUM(fare) AS total
FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end
=>
window_start          window_end            total   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:10:00   12.50   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:10:00   2024-05-01 09:20:00    3.00   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:30:00   2024-05-01 09:40:00    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- a tumbling window with named arguments
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(DATA => TABLE hire, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '10' MINUTES))
GROUP BY window_start, window_end
=>
window_start          window_end            n   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:10:00   3   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:10:00   2024-05-01 09:20:00   2   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:30:00   2024-05-01 09:40:00   1   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- the rows of a tumbling window
SELECT * FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) WHERE bike = 'b1'
=>
bike   rider   fare    km   tags               ts                    window_start          window_end            window_time                  valid_from                   valid_to
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
b1     ann     4.00   2.5   ["city", "rain"]   2024-05-01 09:02:00   2024-05-01 09:00:00   2024-05-01 09:10:00   2024-05-01 09:09:59.999999   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b1     cy      6.00   7.5   []                 2024-05-01 09:09:00   2024-05-01 09:00:00   2024-05-01 09:10:00   2024-05-01 09:09:59.999999   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b1     ann     5.00     3   ["rain", "park"]   2024-05-01 09:34:00   2024-05-01 09:30:00   2024-05-01 09:40:00   2024-05-01 09:39:59.999999   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- a tumbling window with an offset
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '1' MINUTES))
GROUP BY window_start
=>
error: an offset is not supported: windows are counted from 1970-01-01 00:00 UTC
  line 2, column 79
    FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '1' MINUTES))
                                                                                  ^^^^^^^^^^^
help: leave the offset out

-- a hopping window
SELECT window_start, window_end, SUM(fare) AS total
FROM TABLE(HOP(TABLE hire, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))
GROUP BY window_start, window_end
=>
window_start          window_end            total   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 08:55:00   2024-05-01 09:05:00    4.00   2024-05-01 09:04:59.999999   2024-05-01 09:09:59.999999
2024-05-01 09:00:00   2024-05-01 09:10:00   12.50   2024-05-01 09:09:59.999999   2024-05-01 09:14:59.999999
2024-05-01 09:05:00   2024-05-01 09:15:00   11.50   2024-05-01 09:14:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:10:00   2024-05-01 09:20:00    3.00   2024-05-01 09:19:59.999999   2024-05-01 09:24:59.999999
2024-05-01 09:15:00   2024-05-01 09:25:00    NULL   2024-05-01 09:24:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:25:00   2024-05-01 09:35:00    5.00   2024-05-01 09:34:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:30:00   2024-05-01 09:40:00    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:44:59.999999

-- a cumulating window
SELECT window_start, window_end, SUM(fare) AS total
FROM TABLE(CUMULATE(TABLE hire, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))
GROUP BY window_start, window_end
=>
window_start          window_end            total   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:04:00    4.00   2024-05-01 09:03:59.999999   2024-05-01 09:05:59.999999
2024-05-01 09:00:00   2024-05-01 09:06:00    6.50   2024-05-01 09:05:59.999999   2024-05-01 09:07:59.999999
2024-05-01 09:00:00   2024-05-01 09:08:00    6.50   2024-05-01 09:07:59.999999   2024-05-01 09:09:59.999999
2024-05-01 09:00:00   2024-05-01 09:10:00   12.50   2024-05-01 09:09:59.999999   2024-05-01 09:11:59.999999
2024-05-01 09:10:00   2024-05-01 09:14:00    3.00   2024-05-01 09:13:59.999999   2024-05-01 09:15:59.999999
2024-05-01 09:10:00   2024-05-01 09:16:00    3.00   2024-05-01 09:15:59.999999   2024-05-01 09:17:59.999999
2024-05-01 09:10:00   2024-05-01 09:18:00    3.00   2024-05-01 09:17:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:10:00   2024-05-01 09:20:00    3.00   2024-05-01 09:19:59.999999   2024-05-01 09:21:59.999999
2024-05-01 09:30:00   2024-05-01 09:36:00    5.00   2024-05-01 09:35:59.999999   2024-05-01 09:37:59.999999
2024-05-01 09:30:00   2024-05-01 09:38:00    5.00   2024-05-01 09:37:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:30:00   2024-05-01 09:40:00    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:41:59.999999

-- a session window as a table function
SELECT bike, window_start, window_end, SUM(fare) AS total
FROM TABLE(SESSION(TABLE hire PARTITION BY bike, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
GROUP BY bike, window_start, window_end
=>
bike   window_start          window_end            total   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────
b1     2024-05-01 09:02:00   2024-05-01 09:07:00    4.00   2024-05-01 09:06:59.999999   2024-05-01 09:07:00
b2     2024-05-01 09:05:00   2024-05-01 09:10:00    2.50   2024-05-01 09:09:59.999999   2024-05-01 09:10:00
b1     2024-05-01 09:09:00   2024-05-01 09:14:00    6.00   2024-05-01 09:13:59.999999   2024-05-01 09:14:00
b3     2024-05-01 09:13:00   2024-05-01 09:18:00    3.00   2024-05-01 09:17:59.999999   2024-05-01 09:18:00
b2     2024-05-01 09:17:00   2024-05-01 09:22:00    NULL   2024-05-01 09:21:59.999999   2024-05-01 09:22:00
b1     2024-05-01 09:34:00   2024-05-01 09:39:00    5.00   2024-05-01 09:38:59.999999   2024-05-01 09:39:00

-- a session window of a group
SELECT bike, SESSION_START(ts, INTERVAL '5' MINUTE) AS s, SUM(fare) AS total
FROM hire GROUP BY bike, SESSION(ts, INTERVAL '5' MINUTE)
=>
bike   s                     total   valid_from                   valid_to
─────────────────────────────────────────────────────────────────────────────────────
b1     2024-05-01 09:02:00    4.00   2024-05-01 09:06:59.999999   2024-05-01 09:07:00
b2     2024-05-01 09:05:00    2.50   2024-05-01 09:09:59.999999   2024-05-01 09:10:00
b1     2024-05-01 09:09:00    6.00   2024-05-01 09:13:59.999999   2024-05-01 09:14:00
b3     2024-05-01 09:13:00    3.00   2024-05-01 09:17:59.999999   2024-05-01 09:18:00
b2     2024-05-01 09:17:00    NULL   2024-05-01 09:21:59.999999   2024-05-01 09:22:00
b1     2024-05-01 09:34:00    5.00   2024-05-01 09:38:59.999999   2024-05-01 09:39:00

-- a tumbling window of a group
SELECT bike, TUMBLE_START(ts, INTERVAL '10' MINUTE) AS s, SUM(fare) AS total
FROM hire GROUP BY bike, TUMBLE(ts, INTERVAL '10' MINUTE)
=>
bike   s                     total   valid_from                   valid_to
────────────────────────────────────────────────────────────────────────────────────────────
b1     2024-05-01 09:00:00   10.00   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b2     2024-05-01 09:00:00    2.50   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b2     2024-05-01 09:10:00    NULL   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
b3     2024-05-01 09:10:00    3.00   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
b1     2024-05-01 09:30:00    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- a hopping window of a group
SELECT HOP_END(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS e, COUNT(*) AS n
FROM hire GROUP BY HOP(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)
=>
e                     n   valid_from                   valid_to
─────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:05:00   1   2024-05-01 09:04:59.999999   2024-05-01 09:09:59.999999
2024-05-01 09:10:00   3   2024-05-01 09:09:59.999999   2024-05-01 09:14:59.999999
2024-05-01 09:15:00   3   2024-05-01 09:14:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:20:00   2   2024-05-01 09:19:59.999999   2024-05-01 09:24:59.999999
2024-05-01 09:25:00   1   2024-05-01 09:24:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:35:00   1   2024-05-01 09:34:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:40:00   1   2024-05-01 09:39:59.999999   2024-05-01 09:44:59.999999

-- windows with grouping sets
SELECT window_start, window_end, bike, SUM(fare) AS total
FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '20' MINUTES))
GROUP BY window_start, window_end, GROUPING SETS ((bike), ())
=>
window_start          window_end            bike   total   valid_from                   valid_to
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:20:00   NULL   15.50   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b1     10.00   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b2      2.50   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b3      3.00   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:20:00   2024-05-01 09:40:00   NULL    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:59:59.999999
2024-05-01 09:20:00   2024-05-01 09:40:00   b1      5.00   2024-05-01 09:39:59.999999   2024-05-01 09:59:59.999999

-- windows with rollup
SELECT window_start, window_end, bike, SUM(fare) AS total
FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '20' MINUTES))
GROUP BY window_start, window_end, ROLLUP (bike)
=>
window_start          window_end            bike   total   valid_from                   valid_to
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:20:00   NULL   15.50   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b1     10.00   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b2      2.50   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b3      3.00   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:20:00   2024-05-01 09:40:00   NULL    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:59:59.999999
2024-05-01 09:20:00   2024-05-01 09:40:00   b1      5.00   2024-05-01 09:39:59.999999   2024-05-01 09:59:59.999999

-- a window over the windows of a view
CREATE VIEW fives AS
SELECT window_start AS s, window_end AS e, window_time, SUM(fare) AS part
FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
GROUP BY window_start, window_end, window_time;
SELECT window_start, window_end, SUM(part) AS total
FROM TABLE(TUMBLE(TABLE fives, DESCRIPTOR(window_time), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end
=>
window_start          window_end            total   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:10:00   12.50   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
2024-05-01 09:10:00   2024-05-01 09:20:00    3.00   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
2024-05-01 09:30:00   2024-05-01 09:40:00    5.00   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- the dearest of each window
SELECT * FROM (
  SELECT bike, fare, window_start, window_end,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY fare DESC) AS rownum
  FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
) WHERE rownum <= 1
=>
bike   fare   window_start          window_end            rownum   valid_from                   valid_to
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
b1     6.00   2024-05-01 09:00:00   2024-05-01 09:10:00        1   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b3     3.00   2024-05-01 09:10:00   2024-05-01 09:20:00        1   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
b1     5.00   2024-05-01 09:30:00   2024-05-01 09:40:00        1   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- the best groups of each window
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC) AS rownum
  FROM (
    SELECT window_start, window_end, bike, SUM(fare) AS total, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '20' MINUTES))
    GROUP BY window_start, window_end, bike
  )
) WHERE rownum <= 2
=>
window_start          window_end            bike   total   n   rownum   valid_from                   valid_to
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
2024-05-01 09:00:00   2024-05-01 09:20:00   b1     10.00   2        1   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:00:00   2024-05-01 09:20:00   b3      3.00   1        2   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
2024-05-01 09:20:00   2024-05-01 09:40:00   b1      5.00   1        1   2024-05-01 09:39:59.999999   2024-05-01 09:59:59.999999

-- the newest of each key in each window
SELECT * FROM (
  SELECT bike, rider, window_start,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end, bike ORDER BY ts DESC) AS rownum
  FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '20' MINUTES))
) WHERE rownum = 1
=>
bike   rider   window_start          rownum   valid_from                   valid_to
─────────────────────────────────────────────────────────────────────────────────────────────────────
b1     cy      2024-05-01 09:00:00        1   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
b2     dee     2024-05-01 09:00:00        1   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
b3     ann     2024-05-01 09:00:00        1   2024-05-01 09:19:59.999999   2024-05-01 09:39:59.999999
b1     ann     2024-05-01 09:20:00        1   2024-05-01 09:39:59.999999   2024-05-01 09:59:59.999999

-- a join of windows
SELECT l.bike, l.rider, r.station, l.window_start
FROM (SELECT * FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES))) l
LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ending, DESCRIPTOR(ts), INTERVAL '10' MINUTES))) r
ON l.bike = r.bike AND l.window_start = r.window_start AND l.window_end = r.window_end
=>
bike   rider   station   window_start          valid_from                   valid_to
──────────────────────────────────────────────────────────────────────────────────────────────────────
b1     ann     quay      2024-05-01 09:00:00   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b1     cy      quay      2024-05-01 09:00:00   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b2     bob     NULL      2024-05-01 09:00:00   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b2     dee     mill      2024-05-01 09:10:00   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
b3     ann     NULL      2024-05-01 09:10:00   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999
b1     ann     NULL      2024-05-01 09:30:00   2024-05-01 09:39:59.999999   2024-05-01 09:49:59.999999

-- windows in which a partner exists
SELECT l.bike, l.rider, l.window_start
FROM (SELECT * FROM TABLE(TUMBLE(TABLE hire, DESCRIPTOR(ts), INTERVAL '10' MINUTES))) l
WHERE EXISTS (
  SELECT * FROM (SELECT * FROM TABLE(TUMBLE(TABLE ending, DESCRIPTOR(ts), INTERVAL '10' MINUTES))) r
  WHERE l.bike = r.bike AND l.window_start = r.window_start AND l.window_end = r.window_end)
=>
bike   rider   window_start          valid_from                   valid_to
────────────────────────────────────────────────────────────────────────────────────────────
b1     ann     2024-05-01 09:00:00   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b1     cy      2024-05-01 09:00:00   2024-05-01 09:09:59.999999   2024-05-01 09:19:59.999999
b2     dee     2024-05-01 09:10:00   2024-05-01 09:19:59.999999   2024-05-01 09:29:59.999999

-- the first k of everything so far
SELECT * FROM (
  SELECT bike, fare, ROW_NUMBER() OVER (PARTITION BY bike ORDER BY fare DESC) AS row_num
  FROM hire WINDOW(RANGE UNBOUNDED)
) WHERE row_num <= 1
=>
warning: OVER keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 3, column 13
      FROM hire WINDOW(RANGE UNBOUNDED)
                ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   fare   row_num   valid_from            valid_to
─────────────────────────────────────────────────────────────────
b1     4.00         1   2024-05-01 09:02:00   2024-05-01 09:09:00
b2     2.50         1   2024-05-01 09:05:00   2024-05-01 09:17:00
b1     6.00         1   2024-05-01 09:09:00   2024-05-01 09:34:00
b3     3.00         1   2024-05-01 09:13:00   ∞
b2     2.50         1   2024-05-01 09:17:00   ∞
b1     6.00         1   2024-05-01 09:34:00   ∞

-- the first k without a window
SELECT * FROM (
  SELECT bike, fare, ROW_NUMBER() OVER (PARTITION BY bike ORDER BY fare DESC) AS row_num
  FROM hire
) WHERE row_num <= 1
=>
warning: `hire` has no window: this aggregates the rows of a single instant
  line 3, column 8
      FROM hire
           ^^^^
help: did you mean hire WINDOW(RANGE 1 HOUR)?
bike   fare   row_num   valid_from            valid_to
────────────────────────────────────────────────────────────────────────
b1     4.00         1   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     2.50         1   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     6.00         1   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b3     3.00         1   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2     NULL         1   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1     5.00         1   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- deduplication keeps the first row of a key
SELECT bike, rider FROM (
  SELECT bike, rider, ROW_NUMBER() OVER (PARTITION BY bike ORDER BY ts ASC) AS row_num
  FROM hire WINDOW(RANGE UNBOUNDED)
) WHERE row_num = 1
=>
warning: OVER keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 3, column 13
      FROM hire WINDOW(RANGE UNBOUNDED)
                ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   rider   valid_from            valid_to
────────────────────────────────────────────────────────
b1     ann     2024-05-01 09:02:00   2024-05-01 09:34:00
b2     bob     2024-05-01 09:05:00   2024-05-01 09:17:00
b3     ann     2024-05-01 09:13:00   ∞
b2     bob     2024-05-01 09:17:00   ∞
b1     ann     2024-05-01 09:34:00   ∞

-- deduplication by processing time
SELECT bike, rider FROM (
  SELECT bike, rider, ROW_NUMBER() OVER (PARTITION BY bike ORDER BY PROCTIME() ASC) AS row_num
  FROM hire WINDOW(RANGE UNBOUNDED)
) WHERE row_num = 1
=>
error: unknown function `PROCTIME`
  line 2, column 69
      SELECT bike, rider, ROW_NUMBER() OVER (PARTITION BY bike ORDER BY PROCTIME() ASC) AS row_num
                                                                        ^^^^^^^^
help: use the time column of the stream; a stream without ORDERED BY has the time of arrival

-- over a range of time
SELECT bike, ts, SUM(fare) OVER (
  PARTITION BY bike ORDER BY ts RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS total
FROM hire WINDOW(RANGE UNBOUNDED)
=>
warning: OVER keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 3, column 11
    FROM hire WINDOW(RANGE UNBOUNDED)
              ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   ts                    total   valid_from            valid_to
──────────────────────────────────────────────────────────────────────────────
b1     2024-05-01 09:02:00    4.00   2024-05-01 09:02:00   2024-05-01 09:34:00
b2     2024-05-01 09:05:00    2.50   2024-05-01 09:05:00   2024-05-01 09:17:00
b1     2024-05-01 09:09:00   10.00   2024-05-01 09:09:00   2024-05-01 09:34:00
b3     2024-05-01 09:13:00    3.00   2024-05-01 09:13:00   ∞
b2     2024-05-01 09:05:00    2.50   2024-05-01 09:17:00   ∞
b2     2024-05-01 09:17:00    NULL   2024-05-01 09:17:00   ∞
b1     2024-05-01 09:02:00    4.00   2024-05-01 09:34:00   ∞
b1     2024-05-01 09:09:00   10.00   2024-05-01 09:34:00   ∞
b1     2024-05-01 09:34:00    5.00   2024-05-01 09:34:00   ∞

-- over a number of rows, with a name
SELECT bike, ts, COUNT(fare) OVER w AS n, SUM(km) OVER w AS total
FROM hire WINDOW(RANGE UNBOUNDED)
WINDOW w AS (PARTITION BY bike ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
=>
warning: OVER keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 11
    FROM hire WINDOW(RANGE UNBOUNDED)
              ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   ts                    n   total   valid_from            valid_to
──────────────────────────────────────────────────────────────────────────────────
b1     2024-05-01 09:02:00   1     2.5   2024-05-01 09:02:00   2024-05-01 09:34:00
b2     2024-05-01 09:05:00   1       1   2024-05-01 09:05:00   2024-05-01 09:17:00
b1     2024-05-01 09:09:00   2      10   2024-05-01 09:09:00   2024-05-01 09:34:00
b3     2024-05-01 09:13:00   1       4   2024-05-01 09:13:00   ∞
b2     2024-05-01 09:05:00   1       1   2024-05-01 09:17:00   ∞
b2     2024-05-01 09:17:00   1       1   2024-05-01 09:17:00   ∞
b1     2024-05-01 09:02:00   1     2.5   2024-05-01 09:34:00   ∞
b1     2024-05-01 09:09:00   2      10   2024-05-01 09:34:00   ∞
b1     2024-05-01 09:34:00   2    10.5   2024-05-01 09:34:00   ∞

-- a regular join
SELECT h.bike, h.rider, e.station
FROM hire h WINDOW(RANGE UNBOUNDED) JOIN ending e WINDOW(RANGE UNBOUNDED) ON h.bike = e.bike
=>
warning: the join keeps every row of `hire AS h WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 13
    FROM hire h WINDOW(RANGE UNBOUNDED) JOIN ending e WINDOW(RANGE UNBOUNDED) ON h.bike = e.bike
                ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
warning: the join keeps every row of `ending AS e WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 51
    FROM hire h WINDOW(RANGE UNBOUNDED) JOIN ending e WINDOW(RANGE UNBOUNDED) ON h.bike = e.bike
                                                      ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   rider   station   valid_from            valid_to
───────────────────────────────────────────────────────
b1     ann     quay      2024-05-01 09:07:00   ∞
b1     cy      quay      2024-05-01 09:09:00   ∞
b2     bob     mill      2024-05-01 09:16:00   ∞
b2     dee     mill      2024-05-01 09:17:00   ∞
b1     ann     quay      2024-05-01 09:20:00   ∞
b1     cy      quay      2024-05-01 09:20:00   ∞
b3     ann     moor      2024-05-01 09:21:00   ∞
b1     ann     quay      2024-05-01 09:34:00   ∞
b1     ann     quay      2024-05-01 09:34:00   ∞

-- a regular join without windows
SELECT h.bike, h.rider, e.station FROM hire h JOIN ending e ON h.bike = e.bike
=>
warning: `h` and `e` have no windows: this joins rows of the same microsecond only
  line 1, column 52
    SELECT h.bike, h.rider, e.station FROM hire h JOIN ending e ON h.bike = e.bike
                                                       ^^^^^^^^
help: did you mean hire WINDOW(RANGE 1 HOUR), for partners that come within an hour?
no rows

-- an interval join
SELECT h.bike, h.rider, e.station
FROM hire h, ending e
WHERE h.bike = e.bike AND e.ts BETWEEN h.ts AND h.ts + INTERVAL '15' MINUTE
=>
warning: `h` and `e` have no windows: this joins rows of the same microsecond only
  line 2, column 14
    FROM hire h, ending e
                 ^^^^^^^^
help: did you mean hire WINDOW(RANGE 1 HOUR), for partners that come within an hour?
no rows

-- an interval join with windows
SELECT h.bike, h.rider, e.station
FROM hire h WINDOW(RANGE 15 MINUTES), ending e
WHERE h.bike = e.bike
=>
bike   rider   station   valid_from            valid_to
─────────────────────────────────────────────────────────────────────────
b1     ann     quay      2024-05-01 09:07:00   2024-05-01 09:07:00.000001
b2     bob     mill      2024-05-01 09:16:00   2024-05-01 09:16:00.000001
b1     cy      quay      2024-05-01 09:20:00   2024-05-01 09:20:00.000001
b3     ann     moor      2024-05-01 09:21:00   2024-05-01 09:21:00.000001

-- a temporal join by event time
SELECT h.bike, h.km * t.rate AS due
FROM hire AS h JOIN tariff FOR SYSTEM_TIME AS OF h.ts AS t ON h.bike = t.bike
=>
bike     due   valid_from            valid_to
───────────────────────────────────────────────────────────────
b1       2.5   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2       0.8   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     11.25   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b2      NULL   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1       4.5   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a temporal join without the words
SELECT h.bike, h.km * t.rate AS due FROM hire AS h JOIN tariff AS t ON h.bike = t.bike
=>
bike     due   valid_from            valid_to
───────────────────────────────────────────────────────────────
b1       2.5   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2       0.8   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     11.25   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b2      NULL   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1       4.5   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a lookup join
SELECT h.rider, m.level
FROM hire AS h LEFT JOIN member FOR SYSTEM_TIME AS OF h.proc_time AS m ON h.rider = m.rider
=>
error: AS OF is not supported behind an entry of FROM
  line 2, column 26
    FROM hire AS h LEFT JOIN member FOR SYSTEM_TIME AS OF h.proc_time AS m ON h.rider = m.rider
                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: leave it out: a row of a stream without a window meets the rows that hold at its instant, and query.snapshot(instant) is the answer at an instant

-- a lookup without the words
SELECT h.rider, m.level FROM hire AS h LEFT JOIN member AS m ON h.rider = m.rider
=>
rider   level   valid_from            valid_to
────────────────────────────────────────────────────────────────
ann     gold    2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     iron    2024-05-01 09:05:00   2024-05-01 09:05:00.000001
cy      NULL    2024-05-01 09:09:00   2024-05-01 09:09:00.000001
ann     iron    2024-05-01 09:13:00   2024-05-01 09:13:00.000001
dee     NULL    2024-05-01 09:17:00   2024-05-01 09:17:00.000001
ann     iron    2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a temporal table function
SELECT h.bike, t.rate FROM hire AS h, LATERAL TABLE (rates(h.ts)) AS t(bike, rate) WHERE h.bike = t.bike
=>
error: LATERAL takes a subquery on the right
  line 1, column 47
    SELECT h.bike, t.rate FROM hire AS h, LATERAL TABLE (rates(h.ts)) AS t(bike, rate) WHERE h.bike = t.bike
                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: let the function give a list: CROSS JOIN UNNEST(f(x)) AS t(a)

-- a list as rows
SELECT rider, tag FROM hire CROSS JOIN UNNEST(tags) AS t (tag)
=>
rider   tag    valid_from            valid_to
───────────────────────────────────────────────────────────────
ann     city   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
ann     rain   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     city   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
ann     park   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
ann     park   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
ann     rain   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a list as rows, with places
SELECT rider, tag, place FROM hire CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, place)
=>
rider   tag    place   valid_from            valid_to
───────────────────────────────────────────────────────────────────────
ann     city       1   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
ann     rain       2   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     city       1   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
ann     park       1   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
ann     park       2   2024-05-01 09:34:00   2024-05-01 09:34:00.000001
ann     rain       1   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a table function of one's own
SELECT rider, word FROM hire, LATERAL TABLE(SplitFunction(rider)) AS t(word)
=>
error: LATERAL takes a subquery on the right
  line 1, column 39
    SELECT rider, word FROM hire, LATERAL TABLE(SplitFunction(rider)) AS t(word)
                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: let the function give a list: CROSS JOIN UNNEST(f(x)) AS t(a)

-- the union of two streams
(SELECT bike FROM hire) UNION ALL (SELECT bike FROM ending)
=>
bike   valid_from            valid_to
───────────────────────────────────────────────────────
b1     2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     2024-05-01 09:07:00   2024-05-01 09:07:00.000001
b1     2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b3     2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2     2024-05-01 09:16:00   2024-05-01 09:16:00.000001
b2     2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1     2024-05-01 09:20:00   2024-05-01 09:20:00.000001
b3     2024-05-01 09:21:00   2024-05-01 09:21:00.000001
b1     2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- the intersection of two streams
SELECT bike FROM hire WINDOW(RANGE 10 MINUTES) INTERSECT SELECT bike FROM ending WINDOW(RANGE 10 MINUTES)
=>
bike   valid_from            valid_to
────────────────────────────────────────────────
b1     2024-05-01 09:07:00   2024-05-01 09:17:00
b2     2024-05-01 09:17:00   2024-05-01 09:26:00
b3     2024-05-01 09:21:00   2024-05-01 09:23:00

-- a pattern of rows
SELECT * FROM hire
MATCH_RECOGNIZE (
  PARTITION BY bike ORDER BY ts
  MEASURES FIRST(a.ts) AS start_ts, LAST(b.ts) AS end_ts
  ONE ROW PER MATCH AFTER MATCH SKIP TO LAST b
  PATTERN (a b+)
  DEFINE b AS b.fare > a.fare
) AS m
=>
error: `MATCH_RECOGNIZE` is not supported
  line 2, column 1
    MATCH_RECOGNIZE (
    ^^^^^^^^^^^^^^^
help: compare a row with those before it, LAG(x) OVER (PARTITION BY ... ORDER BY ts) in a subquery, or join the stream with its window: a WINDOW(RANGE 1 HOUR) JOIN b

-- rows that are spelt out
SELECT item, amount FROM (VALUES ('lock', 2), ('bell', 5)) AS t (item, amount)
=>
item   amount   valid_from   valid_to
─────────────────────────────────────
bell        5            0          ∞
lock        2            0          ∞

-- distinct aggregates with a filter
SELECT COUNT(DISTINCT bike) AS bikes, COUNT(*) FILTER (WHERE fare > 3) AS dear
FROM hire WINDOW(RANGE UNBOUNDED)
=>
warning: COUNT(DISTINCT ...) keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 2, column 11
    FROM hire WINDOW(RANGE UNBOUNDED)
              ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bikes   dear   valid_from            valid_to
────────────────────────────────────────────────────────
    1      1   2024-05-01 09:02:00   2024-05-01 09:05:00
    2      1   2024-05-01 09:05:00   2024-05-01 09:09:00
    2      2   2024-05-01 09:09:00   2024-05-01 09:13:00
    3      2   2024-05-01 09:13:00   2024-05-01 09:17:00
    3      2   2024-05-01 09:17:00   2024-05-01 09:34:00
    3      3   2024-05-01 09:34:00   ∞

-- an aggregate of everything so far
SELECT bike, SUM(fare) AS total FROM hire WINDOW(RANGE UNBOUNDED) GROUP BY bike HAVING SUM(fare) > 4
=>
bike   total   valid_from            valid_to
────────────────────────────────────────────────────────
b1     10.00   2024-05-01 09:09:00   2024-05-01 09:34:00
b1     15.00   2024-05-01 09:34:00   ∞

-- an aggregate without a window
SELECT bike, SUM(fare) AS total FROM hire GROUP BY bike
=>
warning: `hire` has no window: this aggregates the rows of a single instant
  line 1, column 38
    SELECT bike, SUM(fare) AS total FROM hire GROUP BY bike
                                         ^^^^
help: did you mean hire WINDOW(RANGE 1 HOUR)?
bike   total   valid_from            valid_to
───────────────────────────────────────────────────────────────
b1      4.00   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2      2.50   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1      6.00   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b3      3.00   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2      NULL   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1      5.00   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- the time functions
SELECT bike, DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm') AS day, EXTRACT(MINUTE FROM ts) AS m,
       TIMESTAMPDIFF(MINUTE, TIMESTAMP '2024-05-01 09:00:00', ts) AS since
FROM hire
=>
bike   day                 m   since   valid_from            valid_to
───────────────────────────────────────────────────────────────────────────────────────
b1     2024-05-01 09:02    2       2   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     2024-05-01 09:05    5       5   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     2024-05-01 09:09    9       9   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b3     2024-05-01 09:13   13      13   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2     2024-05-01 09:17   17      17   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1     2024-05-01 09:34   34      34   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- the time of the query
SELECT bike FROM hire WHERE ts > CURRENT_TIMESTAMP
=>
error: `CURRENT_TIMESTAMP` has another value whenever it is computed
  line 1, column 34
    SELECT bike FROM hire WHERE ts > CURRENT_TIMESTAMP
                                     ^^^^^^^^^^^^^^^^^
help: use the time column of the stream, or a column with the value

-- texts
SELECT TRIM(BOTH 'a' FROM rider) AS t, rider || '@' || bike AS mail, CHAR_LENGTH(rider) AS n,
       POSITION('n' IN rider) AS p, OVERLAY(rider PLACING 'X' FROM 1 FOR 1) AS o
FROM hire WHERE bike = 'b1'
=>
t    mail     n   p   o     valid_from            valid_to
────────────────────────────────────────────────────────────────────────────
nn   ann@b1   3   2   Xnn   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
cy   cy@b1    2   0   Xy    2024-05-01 09:09:00   2024-05-01 09:09:00.000001
nn   ann@b1   3   2   Xnn   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a value by cases
SELECT bike, CASE WHEN fare >= 5 THEN 'dear' WHEN fare IS NULL THEN 'free' ELSE 'fair' END AS kind,
       CAST(fare AS INT) AS whole, COALESCE(km, 0) AS km
FROM hire
=>
bike   kind   whole    km   valid_from            valid_to
────────────────────────────────────────────────────────────────────────────
b1     fair       4   2.5   2024-05-01 09:02:00   2024-05-01 09:02:00.000001
b2     fair       2     1   2024-05-01 09:05:00   2024-05-01 09:05:00.000001
b1     dear       6   7.5   2024-05-01 09:09:00   2024-05-01 09:09:00.000001
b3     fair       3     4   2024-05-01 09:13:00   2024-05-01 09:13:00.000001
b2     free    NULL     0   2024-05-01 09:17:00   2024-05-01 09:17:00.000001
b1     dear       5     3   2024-05-01 09:34:00   2024-05-01 09:34:00.000001

-- a table with a connector
CREATE TABLE kiosk (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/data', 'format' = 'csv')
=>
error: expected STREAM, RELATION, VIEW or QUERY, found `TABLE`
  line 1, column 8
    CREATE TABLE kiosk (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
           ^^^^^
help: write CREATE STREAM name (columns) SOURCE format(...) ORDERED BY ts SLACK 5 SECONDS, CREATE RELATION, or CREATE VIEW name AS SELECT ...

-- results into a table
INSERT INTO totals SELECT bike, SUM(fare) AS total FROM hire GROUP BY bike
=>
error: INSERT INTO takes a format with its options in parentheses
  line 1, column 13
    INSERT INTO totals SELECT bike, SUM(fare) AS total FROM hire GROUP BY bike
                ^^^^^^
help: write for example INSERT INTO parquet(path => 'results/')

-- several inserts together
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT bike FROM hire; END
=>
error: a statement cannot start with `EXECUTE`
  line 1, column 1
    EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT bike FROM hire; END
    ^^^^^^^
help: write the statements one after the other: all queries of a script start together

-- a description of a table
DESCRIBE hire
=>
column   type
──────────────────────
bike     STRING
rider    STRING
fare     DECIMAL(3, 2)
km       DOUBLE
tags     ARRAY<STRING>
ts       TIMESTAMP

-- the plan of a query
EXPLAIN PLAN FOR SELECT bike FROM hire WHERE fare > 3
=>
plan
──────────────────────────────────────────────────────
logical
01 Project [bike := hire.bike]
02   Filter hire.fare > 3
03     Scan hire columns=[bike, rider, fare, km, tags]

-- hints in the table options
SELECT bike FROM hire /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */
=>
error: a hint stands directly behind SELECT
  line 1, column 23
    SELECT bike FROM hire /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: write SELECT /*+ ... */ a, b FROM ...; a comment begins with /* and a space

-- time travel
SELECT * FROM station FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 09:10:00'
=>
error: AS OF is not supported behind an entry of FROM
  line 1, column 15
    SELECT * FROM station FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 09:10:00'
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: leave it out: a row of a stream without a window meets the rows that hold at its instant, and query.snapshot(instant) is the answer at an instant

-- the order of an unbounded table
SELECT bike, fare FROM hire WINDOW(RANGE UNBOUNDED) ORDER BY fare DESC LIMIT 2
=>
warning: ORDER BY ... LIMIT keeps every row of `hire WINDOW(RANGE UNBOUNDED)` for ever
  line 1, column 29
    SELECT bike, fare FROM hire WINDOW(RANGE UNBOUNDED) ORDER BY fare DESC LIMIT 2
                                ^^^^^^^^^^^^^^^^^^^^^^^
help: give the window a size, as in WINDOW(RANGE 1 HOUR)
bike   fare   valid_from            valid_to
───────────────────────────────────────────────────────
b1     4.00   2024-05-01 09:02:00   2024-05-01 09:34:00
b2     2.50   2024-05-01 09:05:00   2024-05-01 09:09:00
b1     6.00   2024-05-01 09:09:00   ∞
b1     5.00   2024-05-01 09:34:00   ∞

-- fetch the first rows
SELECT bike, fare FROM hire WINDOW(RANGE 10 MINUTES) ORDER BY fare DESC FETCH FIRST 1 ROWS ONLY
=>
bike   fare   valid_from            valid_to
───────────────────────────────────────────────────────
b1     4.00   2024-05-01 09:02:00   2024-05-01 09:09:00
b1     6.00   2024-05-01 09:09:00   2024-05-01 09:19:00
b3     3.00   2024-05-01 09:19:00   2024-05-01 09:23:00
b2     NULL   2024-05-01 09:23:00   2024-05-01 09:27:00
b1     5.00   2024-05-01 09:34:00   2024-05-01 09:44:00

-- a temporal join of a window
SELECT h.bike, t.rate
FROM hire AS h WINDOW(RANGE 5 MINUTES) JOIN tariff FOR SYSTEM_TIME AS OF h.ts AS t ON h.bike = t.bike
=>
error: AS OF is not supported behind an entry of FROM
  line 2, column 45
    FROM hire AS h WINDOW(RANGE 5 MINUTES) JOIN tariff FOR SYSTEM_TIME AS OF h.ts AS t ON h.bike = t.bike
                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: leave it out: a row of a stream without a window meets the rows that hold at its instant, and query.snapshot(instant) is the answer at an instant

-- a lookup by event time
SELECT h.rider, m.level
FROM hire AS h LEFT JOIN member FOR SYSTEM_TIME AS OF h.ts AS m ON h.rider = m.rider
=>
rider   level   valid_from            valid_to
────────────────────────────────────────────────────────────────
ann     gold    2024-05-01 09:02:00   2024-05-01 09:02:00.000001
bob     iron    2024-05-01 09:05:00   2024-05-01 09:05:00.000001
cy      NULL    2024-05-01 09:09:00   2024-05-01 09:09:00.000001
ann     iron    2024-05-01 09:13:00   2024-05-01 09:13:00.000001
dee     NULL    2024-05-01 09:17:00   2024-05-01 09:17:00.000001
ann     iron    2024-05-01 09:34:00   2024-05-01 09:34:00.000001
