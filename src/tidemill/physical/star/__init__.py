"""Star joins: streams that meet through a relation, in bounded memory."""

from tidemill.physical.star.assignment import AssignPartitionExec
from tidemill.physical.star.node import StarJoinExec

__all__ = ["AssignPartitionExec", "StarJoinExec"]
