"""Whether Spark's Python workers have this package: a session of the user's may not know it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidemill.errors import UnsupportedError
from tidemill.runtime.spark.failures import SPARK_ERRORS

_checked: set[str] = set()
_CONNECT = "pyspark.sql.connect"

# Spark sends functions of this package by name: one of no module is sent as it is.
_PROBE: Any = eval("lambda _: bool(__import__('tidemill'))", {})


def check_workers(session: SparkSession) -> None:
    """Refuse a session whose workers cannot import this package, and say what to set."""
    if type(session).__module__.startswith(_CONNECT):
        help = "make a classic one: SparkSession.builder.master('local[*]').getOrCreate()"
        raise UnsupportedError("queries cannot run on a session of Spark Connect", help=help)
    context = session.sparkContext
    if str(context.applicationId) in _checked:
        return
    try:
        context.parallelize([0], 1).map(_PROBE).collect()
    except SPARK_ERRORS as error:
        if "No module named 'tidemill'" not in str(error):
            raise
        message = "the Python workers of this Spark session cannot import tidemill"
        raise UnsupportedError(message, help=_remedy()) from None
    _checked.add(str(context.applicationId))


def _remedy() -> str:
    place = Path(__file__).parents[3]
    return (
        f'set os.environ["PYSPARK_PYTHON"] = "{sys.executable}" before the session is made, or '
        f'make it with .config("spark.executorEnv.PYTHONPATH", "{place}"); on a cluster, install '
        "tidemill on every node"
    )
