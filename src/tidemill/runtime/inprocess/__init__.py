"""The runtime inside the Python process: no JVM, one tick after the other."""

from tidemill.runtime.inprocess.run import Run

__all__ = ["Run"]
