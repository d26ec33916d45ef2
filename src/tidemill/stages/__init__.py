"""Stages: which operators run together in a partition, and how rows travel between them."""

from tidemill.stages.exchange import Mode
from tidemill.stages.late import LateRowsExec
from tidemill.stages.stages import Exchange, Stage, Staged
from tidemill.stages.staging import stage_plans
from tidemill.stages.traces import traced

__all__ = ["Exchange", "LateRowsExec", "Mode", "Stage", "Staged", "stage_plans", "traced"]
