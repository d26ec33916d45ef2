"""A function and an aggregate written in Python, used in SQL.

Run it: python examples/python/user_functions.py
"""

import math

import tidemill as tm

engine = tm.Engine(runtime="inprocess")
engine.stream(
    "trade",
    [
        {"symbol": "TIDE", "price": 100.0, "at": 1},
        {"symbol": "TIDE", "price": 110.0, "at": 3},
        {"symbol": "MILL", "price": 8.0, "at": 4},
        {"symbol": "TIDE", "price": 121.0, "at": 6},
        {"symbol": "MILL", "price": 2.0, "at": 7},
    ],
    time="at",
)

# A scalar function is called once per row, with None for NULL.
engine.function("shout", lambda text: text.upper() + "!", returns="STRING")

# An aggregate makes a partial result of each value, merges two of them, and evaluates one.
# It never has to take a value back: the engine keeps what sliding windows need.
engine.aggregate(
    "geomean",
    init=lambda price: (math.log(price), 1),
    merge=lambda left, right: (left[0] + right[0], left[1] + right[1]),
    eval=lambda state: math.exp(state[0] / state[1]),
    returns="DOUBLE",
)

query = engine.sql("""
    SELECT SHOUT(symbol) AS symbol, GEOMEAN(price) AS mean
    FROM trade WINDOW(RANGE 5)
    GROUP BY symbol
""")
for row in query.collect().to_pylist():
    print(f"[{row['valid_from']}, {row['valid_to']})  {row['symbol']}  {row['mean']:.2f}")
