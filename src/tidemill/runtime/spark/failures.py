"""Errors of Spark as errors of ours."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tidemill.errors import ExecutionError, TidemillError

SPARK_ERRORS = (PySparkException, Py4JError)
"""What Spark raises; some errors of Java come as they are."""

_PYTHON = "Traceback (most recent call last):"
"""What Spark says before an error of Python code, which says what went wrong in its last line."""


def explained(failure: Exception) -> Exception:
    """An error of ours for one that came through Spark."""
    if isinstance(failure, TidemillError):
        return failure
    error = ExecutionError(reason(str(failure)))
    error.__cause__ = failure
    return error


def reason(text: str) -> str:
    """What went wrong, out of the many lines that Spark says about it.

    >>> reason("Query failed\\n  x.ArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use...")
    'Division by zero. Use...'
    >>> reason("[PYTHON] It failed: Traceback (most recent call last):\\nValueError: no ink")
    'no ink'
    """
    ours = re.findall(r"ExecutionError: error: (.*)", text)
    named = re.findall(r"\[[A-Z][A-Z0-9_.]+\] (.*)", text)
    named = [line for line in named if not line.endswith(_PYTHON)]
    causes = re.findall(r"^(?:Caused by)?[:\s]*\S*(?:Exception|Error): (.*)", text, re.MULTILINE)
    what = str([*text.splitlines()[:1], *(ours or named or causes)][-1])
    file = re.search(r"error while reading file \S*/(\S+?)\.?\s", text)
    where = f"cannot read {file[1]}: " if file and not ours else ""
    return where + re.sub(r" SQLSTATE: \w+.*$", "", what)
