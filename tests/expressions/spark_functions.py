"""Spark's own list of functions: `python -m tests.expressions.spark_functions` writes it down."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

FILE = Path(__file__).parent / "spark_functions.json"
_SEVERAL_ROWS = {"agg_funcs", "window_funcs", "generator_funcs", "table_funcs", ""}


@cache
def functions() -> dict[str, str]:
    """Every function of single rows, and the group in which Spark has it."""
    found: dict[str, str] = json.loads(FILE.read_text("utf-8"))
    return found


def ask(session: SparkSession) -> dict[str, str]:
    """The functions of single rows that a session knows."""
    registry = session._jsparkSession.sessionState().functionRegistry()
    names = registry.listFunction().iterator()
    found = {}
    while names.hasNext():
        name = names.next()
        group = registry.lookupFunction(name).get().getGroup()
        if group not in _SEVERAL_ROWS:
            found[name.funcName()] = group
    return dict(sorted(found.items()))


def main() -> None:
    from tidemill.runtime.spark.session import _local_session

    session = _local_session("1")
    FILE.write_text(json.dumps(ask(session), indent=1) + "\n", "utf-8")
    session.stop()


if __name__ == "__main__":
    main()
