"""Functions that users bring along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidemill.algebra.code import code_version


@dataclass(frozen=True)
class UserFunction:
    """A scalar function in Python: called once per row, with None for NULL.

    A `monotone` one never falls when an argument rises, None being the least. Elsewhere,
    and in checkpoints, it is known by its name and `version`: the one it is given, or else one that
    follows from its code.
    """

    name: str
    call: Callable[..., Any] = field(compare=False)
    type: pa.DataType
    monotone: bool = False
    version: str | None = None

    def __post_init__(self) -> None:
        if self.version is None:
            object.__setattr__(self, "version", code_version(self.call))


Functions = Mapping[str, UserFunction]
"""User functions by their name in lower case."""
