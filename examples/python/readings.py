"""One answer, read as intervals, as changes, as a snapshot, and tick by tick.

Run it: python examples/python/readings.py
"""

import tidemill as tm

# A list of lists: three tables, which arrive one after the other.
engine = tm.Engine(runtime="inprocess")
engine.stream(
    "bid",
    [
        [{"item": "lamp", "price": 30, "at": 1}, {"item": "vase", "price": 12, "at": 2}],
        [{"item": "lamp", "price": 35, "at": 4}, {"item": "vase", "price": 20, "at": 9}],
        [{"item": "vase", "price": 14, "at": 12}],
    ],
    time="at",
)
query = engine.sql("SELECT item, MAX(price) AS best FROM bid WINDOW(RANGE 5) GROUP BY item")

print("intervals: when does each row hold?")
for row in query.collect().to_pylist():
    print(f"  {row['item']} {row['best']} in [{row['valid_from']}, {row['valid_to']})")

print("changes: what comes and goes, and when?")
for row in query.changes().to_pylist():
    print(f"  {row['changed_at']}: {row['change']} {row['item']} {row['best']}")

print("snapshot: what holds at 4?")
for row in query.snapshot(4).to_pylist():
    print(f"  {row['item']} {row['best']}")

print("ticks: what became certain, and with which tick?")
for number, table in enumerate(query.ticks(), 1):
    found = [(row["item"], row["valid_from"], row["valid_to"]) for row in table.to_pylist()]
    print(f"  tick {number}:", *found)
