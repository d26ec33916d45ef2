"""From physical plans to composed ones."""

from __future__ import annotations

from dataclasses import fields, replace

from tidemill.algebra import Plan
from tidemill.algebra.nodes import Scan
from tidemill.catalog import SourceInfo
from tidemill.compose.model import Composed
from tidemill.compose.opening.base import Opening
from tidemill.compose.opening.nodes import OpenSources, Settings
from tidemill.compose.scans import AS_COLUMN, scan_columns
from tidemill.physical.operators.source import SourceExec


class PhysicalOpening(Opening):
    """Opens physical plans."""

    level = "physical"

    def composed(self, plan: Plan) -> Composed:
        """The whole plan; whether others wait for a node follows from where it stands."""
        return super().composed(plan.rewrite(_patient))

    def opened(self, plan: Plan) -> OpenSources:
        """One node; which columns of a source are read is known to the catalog."""
        return self._source(plan.scan) if isinstance(plan, SourceExec) else super().opened(plan)

    def _source(self, scan: Scan) -> OpenSources:
        info = self.catalog.lookup(scan.source)
        assert isinstance(info, SourceInfo)
        with_time = info.time_column is not None and info.time_column in scan.columns
        names = [name for name in scan.columns.names if not name.startswith("#")]
        whole = tuple(names) == scan_columns(info, with_time).names and not info.ranges
        settings: Settings = {
            "source": scan.source,
            "alias": "" if scan.alias == scan.source else scan.alias,
            "time": AS_COLUMN if with_time else "",
            "columns": [] if whole else names,
        }
        return "source", settings, ()


def _patient(plan: Plan) -> Plan:
    if any(field.name == "eager" for field in fields(plan)):
        return replace(plan, eager=False)  # type: ignore[call-arg]
    return plan
