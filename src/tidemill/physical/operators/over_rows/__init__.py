"""Functions over the rows around a row."""

from tidemill.physical.operators.over_rows.node import OverRowsExec

__all__ = ["OverRowsExec"]
