"""Whether Spark's Python workers have this package: a session of the user's may not know it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidemill.errors import UnsupportedError
from tidemill.runtime.spark.failures import SPARK_ERRORS

_checked: set[str] = set()
_PLACE = Path(__file__).parents[3]
_CONNECT = "pyspark.sql.connect"

# Spark sends functions of this package by name: one of no module is sent as it is.
_PROBE: Any = eval("lambda _: bool(__import__('tidemill.runtime.stage_task'))", {})
_MISSING = re.compile(r"No module named '([^']+)'")


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
        reason = _reason(str(error))
        if reason is None:
            raise
        message = f"the Python workers of this Spark session cannot import tidemill: {reason}"
        raise UnsupportedError(message, help=_remedy(reason)) from None
    _checked.add(str(context.applicationId))


def _reason(said: str) -> str | None:
    """Why workers cannot import this package, or what it needs, if that is what Spark says."""
    if "PYTHON_VERSION_MISMATCH" in said:
        return "their Python has another version"
    missing = _MISSING.search(said)
    return f"there is no module {missing[1]}" if missing else None


def _remedy(reason: str) -> str:
    python = f'set os.environ["PYSPARK_PYTHON"] = "{sys.executable}" before the session is made'
    path = f', or make it with .config("spark.executorEnv.PYTHONPATH", "{_PLACE}")'
    with_path = path if reason.endswith(" tidemill") else ""  # a path brings no other packages
    return f"{python}{with_path}; on a cluster, install tidemill on every node"
