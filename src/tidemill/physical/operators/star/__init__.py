"""Star joins: streams that meet through a relation, in bounded memory."""

from tidemill.physical.operators.star.assignment import AssignPartitionExec
from tidemill.physical.operators.star.node import StarJoinExec

__all__ = ["AssignPartitionExec", "StarJoinExec"]
