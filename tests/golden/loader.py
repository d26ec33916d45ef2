"""The worked examples of the PIPES text: cases, and their streams as sources and snapshots."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidemill.algebra import Scan, Schema, SourceKind
from tidemill.reference import LogicalStream, Row, SourceData

_FOLDER = Path(__file__).parent / "pipes"

# Instants looked at beyond the last one that a case names.
_MARGIN = 3


@dataclass(frozen=True)
class Case:
    """One example: an operator, its parameters, named inputs in operand order, and the result."""

    facts: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def operator(self) -> str:
        return str(self.facts["operator"])

    @property
    def params(self) -> Mapping[str, Any]:
        params: Mapping[str, Any] = self.facts["params"]
        return params

    @property
    def inputs(self) -> Mapping[str, list[list[Any]]]:
        inputs: Mapping[str, list[list[Any]]] = self.facts["inputs"]
        return inputs

    @property
    def expected(self) -> Any:
        return self.facts["expected"]

    @property
    def physical(self) -> bool:
        """Whether streams are [tuple, start, end], not [tuple, instant, copies]."""
        return bool(self.facts["representation"] == "physical")

    @property
    def horizon(self) -> int:
        """An instant after everything that the case names."""
        results = self.expected.values() if isinstance(self.expected, dict) else [self.expected]
        streams = [*self.inputs.values(), *(part for part in results if isinstance(part, list))]
        parts = (part for stream in streams for element in stream for part in element[1:])
        return max((part for part in parts if isinstance(part, int)), default=0) + _MARGIN


@cache
def cases(file: str) -> tuple[Case, ...]:
    """All cases of a file, by its name without the ending."""
    return tuple(Case(facts) for facts in contents(file)["cases"])


@cache
def contents(file: str) -> Any:
    """A whole file, parsed."""
    return json.loads((_FOLDER / f"{file}.json").read_text("utf-8"))


def scan_of(name: str, stream: list[list[Any]], kind: SourceKind) -> Scan:
    """The leaf that reads a stream of the examples: one column `v`, or `v1`, `v2`, …"""
    sample = record(stream[0][0]) if stream else {"v": ""}
    types = {key: pa.string() if isinstance(v, str) else pa.int64() for key, v in sample.items()}
    return Scan(name, name, Schema.of(**types), kind)


def record(value: Any) -> dict[str, Any]:
    """A tuple of the examples as a row."""
    if isinstance(value, list):
        return {f"v{number}": part for number, part in enumerate(value, 1)}
    return {"v": value}


def row(value: Any) -> Row:
    """A tuple of the examples as the reference gives it."""
    return tuple(record(value).values())


def physical_source(stream: list[list[Any]]) -> SourceData:
    """[tuple, start, end] as the data of a temporal relation."""
    return [(record(value), start, None if end == "inf" else end) for value, start, end in stream]


def logical_source(stream: list[list[Any]]) -> SourceData:
    """[tuple, instant, copies] as the data of a stream."""
    return [(record(value), t) for value, t, copies in stream for _ in range(copies)]


def raw_source(stream: list[list[Any]]) -> SourceData:
    """[tuple, instant] as the data of a stream."""
    return [(record(value), t) for value, t in stream]


def physical_stream(stream: list[list[Any]], horizon: int) -> LogicalStream:
    """The snapshots of [tuple, start, end]."""

    def holding(t: int) -> Counter[Row]:
        return Counter(
            row(v) for v, start, end in stream if start <= t and (end == "inf" or t < end)
        )

    return LogicalStream.build(horizon, holding)


def logical_stream(
    stream: list[list[Any]], horizon: int, open_from: int | None = None
) -> LogicalStream:
    """The snapshots of [tuple, instant, copies]; that of `open_from` holds ever after."""

    def holding(t: int) -> Counter[Row]:
        named = t if open_from is None else min(t, open_from)
        return Counter({row(value): copies for value, at, copies in stream if at == named})

    return LogicalStream.build(horizon, holding)
