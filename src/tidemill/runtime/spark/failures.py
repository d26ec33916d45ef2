"""Errors of Spark as errors of ours."""

from __future__ import annotations

import re

from tidemill.errors import ExecutionError, TidemillError


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
    """
    ours = re.findall(r"ExecutionError: error: (.*)", text)
    causes = re.findall(
        r"^(?:Caused by)?[:\s]*\S*(?:Exception|Error): (?:\[[A-Z_.]+\] )?(.*)", text, re.MULTILINE
    )
    what = str((ours or causes or text.splitlines())[-1 if ours or causes else 0])
    file = re.search(r"error while reading file \S*/(\S+?)\.?\s", text)
    where = f"cannot read {file[1]}: " if file and not ours else ""
    return where + re.sub(r" SQLSTATE: \w+$", "", what)
