"""Fragments: which operators run together in a partition, and how rows travel between them."""

from tidemill.fragments.exchange import Mode
from tidemill.fragments.late import LateRowsExec
from tidemill.fragments.stages import Edge, Stage, Staged
from tidemill.fragments.staging import stage_plans
from tidemill.fragments.traces import traced

__all__ = ["Edge", "LateRowsExec", "Mode", "Stage", "Staged", "stage_plans", "traced"]
