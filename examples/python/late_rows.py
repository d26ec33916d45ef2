"""Rows that come out of order: the slack says how long to wait for them.

Run it: python examples/python/late_rows.py
"""

import tidemill as tm

# Three tables that arrive one after the other; each is one tick.
ticks = [
    [{"sensor": "a", "at": 10}, {"sensor": "b", "at": 20}],
    [{"sensor": "c", "at": 15}],  # 5 behind the newest row: within a slack of 5
    [{"sensor": "d", "at": 12}, {"sensor": "e", "at": 30}],  # 12 is 8 behind: late
]


def answer(slack, batches):
    engine = tm.Engine(runtime="inprocess")
    engine.stream("event", batches, time="at", slack=slack)
    query = engine.sql("SELECT COUNT(*) AS n FROM event WINDOW(RANGE 10)")
    rows = query.collect(coalesce=True).to_pylist()
    return [(row["n"], row["valid_from"], row["valid_to"]) for row in rows], query.progress


for slack in (0, 5, 10):
    rows, progress = answer(slack, ticks)
    print(f"slack {slack:2}: {progress.late_rows} late,", *rows)

# However the same rows are cut into ticks, the answer is the same.
one_tick = [[row for tick in ticks for row in tick]]
print("one tick equals three:", answer(10, one_tick)[0] == answer(10, ticks)[0])
