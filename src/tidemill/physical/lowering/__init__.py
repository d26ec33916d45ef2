"""From logical plans to physical ones: which operator does what."""

from tidemill.physical.lowering.plans import lower, operators_of

__all__ = ["lower", "operators_of"]
