"""Plans that people build by hand, operator by operator.

A composed plan is JSON, so that a page can keep it::

    {"level": "logical",            # or "physical"
     "nodes": [{"id": "n1",         # any text, different for every node
                "kind": "filter",   # one of the palette
                "settings": {"condition": "price > 10"},
                "inputs": ["n0"],   # ids, in their order: the first is the left one
                "x": 0, "y": 120}], # where it is drawn; rows flow downwards
     "output": "n5"}                # null: the only node that no other one reads

``operators(level)`` is the palette, a list of::

    {"kind": "filter", "title": "Filter",
     "group": "rows",               # sources, windows, rows, streams, join, groups, ranking, sets
     "summary": "Keeps the rows for which a condition is true.",
     "inputs": {"min": 1, "max": 1},
     "settings": [{"name": "condition", "title": "Condition", "type": "condition",
                   "required": true, "default": null, "choices": [],
                   "help": "The condition that a row must satisfy.", "example": "price > 10"}]}

Types of settings, and what their values are:

- ``source``: the name of a stream or relation, a text
- ``text``, ``duration`` (``"5 MINUTES"``; ``"5"`` where time is a number), ``condition``: texts
- ``integer``, ``number``: numbers, or texts that are numbers
- ``choice``: one of ``choices``, a text
- ``columns``: a list of texts, each an expression with a name perhaps: ``"price * 2 AS double"``
- ``aggregates``: likewise: ``"COUNT(*) AS n"``
- ``order``: likewise: ``"price DESC"``

Instead of a list, one text with commas can be given. Settings that are missing or empty have
their default. Columns are named as nodes show them (``b.price``), or without the alias
(``price``) where only one column ends so.

``check(engine, composed)`` never raises because a plan is incomplete. Its ``to_json()`` is::

    {"level", "complete": bool,     # nothing is missing or wrong
     "output": id | null,
     "columns": [{"name", "type"}] | null, "domain": "ticks" | "microseconds" | null,
     "nodes": [{"id",
                "state": "right" | "wrong" | "waiting",  # waiting: an input is not right yet
                "columns": [{"name", "type"}] | null, "domain", "windowed": bool}],
     "errors": [PROBLEM], "warnings": [PROBLEM],
     "sql": text | null, "sql_reason": text | null}      # why there is no SQL

    PROBLEM = {"message", "help": text | null,
               "node": id | null,        # null: the plan as a whole
               "setting": name | null,   # the setting that is wrong
               "input": number | null,   # the input (edge) that is wrong, from 0
               "line", "column", "length": number | null}  # the place in the setting's text

The routes (``POST /api/compose/check``, ``open``, ``run`` and ``GET /api/compose/operators``) add
to the answer of a check, if the plan is complete, what ``/api/plan`` tells: ``plans``, ``texts``,
``rules`` and ``total``; else these are null. Of a physical plan that SQL cannot say, ``plans`` has
only ``physical``.

``open_plan(engine, query, level)`` is a composed plan of a query, given by its name or its text.
``run(engine, composed, name)`` gives a plan a name and starts it: a logical one as its SQL, a
physical one as it is, by the statement ``CREATE QUERY name AS PLAN '...'``, which ``read_plan``
reads.
"""

from tidemill.compose.checking import CheckedPlan, check
from tidemill.compose.model import Composed, Node, PlanProblem
from tidemill.compose.opening import open_plan
from tidemill.compose.palette import operators
from tidemill.compose.running import read_plan, run
from tidemill.compose.sql import CannotSay, to_sql

__all__ = [
    "CannotSay",
    "CheckedPlan",
    "Composed",
    "Node",
    "PlanProblem",
    "check",
    "open_plan",
    "operators",
    "read_plan",
    "run",
    "to_sql",
]
