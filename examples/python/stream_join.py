"""Two streams that meet in time: orders, and the payments that follow within the hour.

Run it: python examples/python/stream_join.py
"""

import tidemill as tm

# Time is an integer here: minutes.
orders = [
    {"order_id": 1, "customer": "ann", "at": 0},
    {"order_id": 2, "customer": "bob", "at": 10},
    {"order_id": 3, "customer": "cy", "at": 30},
]
payments = [
    {"order_id": 1, "amount": 40, "at": 25},
    {"order_id": 2, "amount": 15, "at": 70},  # 60 minutes after the order: too late
    {"order_id": 3, "amount": 99, "at": 89},
]

engine = tm.Engine(runtime="inprocess")
engine.stream("orders", orders, time="at")
engine.stream("payment", payments, time="at")

print("paid within the hour:")
paid = engine.sql("""
    SELECT o.customer, p.amount
    FROM orders AS o WINDOW(RANGE 60) JOIN payment AS p ON o.order_id = p.order_id
""")
for row in paid.collect().to_pylist():
    print(f"  minute {row['valid_from']}: {row['customer']} paid {row['amount']}")

print("waiting for their payment:")
waiting = engine.sql("""
    SELECT o.customer
    FROM orders AS o WINDOW(RANGE 60)
    WHERE NOT EXISTS (
        SELECT 1 FROM payment AS p WINDOW(RANGE 60) WHERE p.order_id = o.order_id
    )
""")
for row in waiting.collect().to_pylist():
    print(f"  from {row['valid_from']} until {row['valid_to']}: {row['customer']}")
