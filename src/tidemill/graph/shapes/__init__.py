"""Queries that differ only in constants, run as one plan."""

from tidemill.graph.shapes.relations import ConstantRelations, is_constants, reads_constants
from tidemill.graph.shapes.shapes import Shapes, relation_of

__all__ = ["ConstantRelations", "Shapes", "is_constants", "reads_constants", "relation_of"]
