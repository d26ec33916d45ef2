"""Functions that users bring along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class UserFunction:
    """A scalar function in Python: called once per row, with None for NULL.

    A `monotone` one never falls when an argument rises, None being the least.
    """

    name: str
    call: Callable[..., Any]
    type: pa.DataType
    monotone: bool = False


Functions = Mapping[str, UserFunction]
"""User functions by their name in lower case."""
