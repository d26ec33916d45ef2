"""Functions of users: files have their names and versions, the engine that reads has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tidemill.algebra.aggregates import UserAggregate
from tidemill.errors import ExecutionError
from tidemill.expressions import UserFunction


@dataclass(frozen=True)
class KnownFunctions:
    """The functions and aggregates of an engine, by their names in lower case."""

    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)

    def function(self, name: str, version: str) -> UserFunction:
        """The function of a name, if it is the one that was there."""
        found = self.functions.get(name.lower())
        _check("function", name, version, found)
        assert found is not None
        return found

    def aggregate(self, name: str, version: str) -> UserAggregate:
        """The aggregate of a name, if it is the one that was there."""
        found = self.aggregates.get(name.lower())
        _check("aggregate", name, version, found)
        assert found is not None
        return found


class AnyFunction(KnownFunctions):
    """Whatever function a file names, for those who look at it and call nothing."""

    def function(self, name: str, version: str) -> UserFunction:
        return UserFunction(name, _refused, pa.null(), version=version)

    def aggregate(self, name: str, version: str) -> UserAggregate:
        return UserAggregate(name, _refused, _refused, _refused, pa.null(), version)


def _refused(*values: Any) -> Any:
    raise ExecutionError("a checkpoint has only the names of functions")


def _check(kind: str, name: str, version: str, found: UserFunction | UserAggregate | None) -> None:
    if found is None:
        raise ExecutionError(
            f"queries of the checkpoint use the {kind} `{name}`, which the engine does not have",
            help=f"declare it before the run starts: engine.{kind}(…)",
        )
    if found.version != version:
        raise ExecutionError(
            f"the {kind} `{name}` is not the one that the checkpoint was made with: "
            f"it has {found.version}, not {version}",
            help=f"declare the old one, or say that it means the same: version={version!r}",
        )
