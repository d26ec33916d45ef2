"""The formats of Spark: what is there, what was meant, and which package brings it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from tidemill.connectors.sinks import SparkWrite
from tidemill.connectors.sinks.writable import SINKS
from tidemill.errors import ExecutionError, nearest
from tidemill.runtime.spark.failures import SPARK_ERRORS

_SPARK = "org.apache.spark:spark-{}_2.13:{version}"
_PACKAGES = {
    "avro": _SPARK.format("avro", version="{version}"),
    "delta": "io.delta:delta-spark_2.13:VERSION",
    "hudi": "org.apache.hudi:hudi-spark4.0-bundle_2.13:VERSION",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:VERSION",
    "mongodb": "org.mongodb.spark:mongo-spark-connector_2.13:VERSION",
}
"""What has to be in `spark.jars.packages`: not everything that Spark can use comes with it."""

_BUILT_IN = ("csv", "jdbc", "json", "noop", "orc", "parquet", "text", "xml")
_NEEDED = {
    "delta": ("path",),
    "jdbc": ("url", "dbtable"),
    "xml": ("path",),
}
"""Options without which a format cannot be written."""


def check_writer(session: SparkSession, write: SparkWrite) -> None:
    """Refuse what Spark could not write, before a query runs: its format, or its options."""
    if not _is_there(session, write.format):
        raise ExecutionError(
            f"results cannot be written as {write.format}: Spark does not have this format",
            help=remedy(write.format, (*SINKS, *_BUILT_IN)),
        )
    given = {name.lower() for name in write.options} | ({"path"} if write.path else set())
    for name in _NEEDED.get(write.format.lower(), ()):
        if name not in given:
            raise ExecutionError(
                f"results cannot be written as {write.format}: the option `{name}` is missing",
                help=f"options given: {', '.join(sorted(given)) or 'none'}",
            )


def remedy(format: str, known: Collection[str]) -> str:
    """What to do about a format that Spark does not have."""
    if (package := _PACKAGES.get(format.lower())) is not None:
        name = package.format(version=pyspark.__version__)
        where = "" if "VERSION" not in name else ", in a version made for your Spark"
        return f'make the session with .config("spark.jars.packages", "{name}"){where}'
    near = nearest(format, (*known, *_PACKAGES))
    guess = f"did you mean {near}? else " if near else ""
    return f"{guess}add the package that has it to spark.jars.packages"


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Let Spark look for formats in a session: those made in Python are known to theirs only."""
    java: Any = SparkSession._get_j_spark_session_class(session._jvm)
    before = java.getActiveSession()
    java.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            java.setActiveSession(before.get())
        else:
            java.clearActiveSession()


def _is_there(session: SparkSession, format: str) -> bool:
    java: Any = session._jvm
    find = java.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource
    try:
        with active(session):
            find(format, session._jsparkSession.sessionState().conf())
    except SPARK_ERRORS:
        return False
    return True
