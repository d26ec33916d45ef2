"""Top-k: the first rows of every instant, in a given order."""

from tidemill.physical.operators.topk.node import TopKExec

__all__ = ["TopKExec"]
