"""Durable files: values as columns of Arrow and a tree of JSON, read without running anything.

A file is one Arrow IPC file of one row. Its first column is the tree: plain values, and objects by
the name and version of their class. Every array and every frame is a cell of a column of its own,
which is used where it lies. Classes come from a fixed table, functions from the engine that reads:
a file cannot bring code along.
"""

from tidemill.runtime.codec.files import dump, load, read
from tidemill.runtime.codec.functions import AnyFunction, KnownFunctions

__all__ = ["AnyFunction", "KnownFunctions", "dump", "load", "read"]
