"""Joins of rows with a relation: it is looked up, and time goes on with the rows alone."""

from tidemill.physical.operators.lookup.node import LookupExec, LookupKind

__all__ = ["LookupExec", "LookupKind"]
