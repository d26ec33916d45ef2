"""Fragments: which operators run together in a partition, and how rows travel between them."""

from tidemill.fragments.exchange import Mode
from tidemill.fragments.stages import Edge, Stage, Staged, stage_plan

__all__ = ["Edge", "Mode", "Stage", "Staged", "stage_plan"]
