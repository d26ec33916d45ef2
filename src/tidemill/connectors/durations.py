"""Lengths of time as options of sources and sinks give them."""

from __future__ import annotations

import re

from tidemill.errors import ExecutionError
from tidemill.sql import UNIT_MICROS, OptionValue


def seconds(value: OptionValue) -> float:
    """A length of time as options give it.

    >>> seconds("2 minutes"), seconds(10)
    (120.0, 10.0)
    """
    number, _, unit = str(value).strip().partition(" ")
    micros = UNIT_MICROS.get((unit.strip() or "second").upper().removesuffix("S"))
    if micros is None or not re.fullmatch(r"\d+(\.\d+)?", number):
        raise ExecutionError(f"{value!r} is not a duration", help="as in '30 seconds'")
    return float(number) * micros / 1_000_000
