"""Functions that users bring along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class UserFunction:
    """A scalar function in Python: called once per row, with None for NULL."""

    name: str
    call: Callable[..., Any]
    type: pa.DataType


Functions = Mapping[str, UserFunction]
"""User functions by their name in lower case."""
