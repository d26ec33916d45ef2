"""The laws of the PIPES text: two plans each, and the streams that they read."""

from __future__ import annotations

from typing import Any

from tests.golden import plans
from tests.golden.loader import Case, contents, logical_source, scan_of
from tidemill.algebra import Plan, SourceKind
from tidemill.reference import LogicalStream, SourceData, evaluate


def side(case: Case, name: str) -> Plan:
    """The `left` or `right` plan of a law."""
    streams = _streams(case)

    def build(plan: Any) -> Plan:
        if isinstance(plan, str):
            return scan_of(plan, streams[plan], SourceKind.STREAM)
        operator, params, *inputs = plan
        return plans.build(operator, params, *map(build, inputs))

    return build(case.facts[name])


def result(case: Case, plan: Plan) -> LogicalStream:
    """The snapshots of a plan over the streams of a law."""
    data: dict[str, SourceData] = {
        name: logical_source(stream) for name, stream in _streams(case).items()
    }
    return evaluate(plan, data, 12)


def _streams(case: Case) -> dict[str, list[list[Any]]]:
    known = contents("laws")["streams"]
    return {name: known[stream] for name, stream in case.facts["inputs"].items()}
