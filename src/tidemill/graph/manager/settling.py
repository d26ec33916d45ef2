"""When states have come to rest: a change of a size shows only as rows of the old size end."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.graph.manager.estimates import Part
from tidemill.physical.operator import Exec
from tidemill.physical.time_window import TimeWindowExec
