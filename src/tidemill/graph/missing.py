"""What new parts of a running graph have missed: until which instant rows that came before count.

A part that begins later gives what it would give had it always been there, since the instant
at which nothing counts any more that its inputs gave before.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Memo, nodes_of
from tidemill.graph.shapes.relations import reads_constants
from tidemill.physical.operator import Exec
from tidemill.physical.operators.net_changes import ChangesExec
from tidemill.physical.operators.pick import PickExec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.timeline import BEGIN


class Missing:
    """The parts that run, and for every source that is read, what a new reading has missed: the
    end of the newest row that is not there any more.

    `lacking` are parts that have missed something themselves when they began, until when.
    """

    def __init__(
        self,
        running: Mapping[Exec, OperatorProgress],
        newest: Mapping[str, int],
        lacking: Mapping[Exec, int],
    ) -> None:
        self._running = running
        self._newest = newest
        self._lacking = lacking
        self._known = Memo(self._until)

    def until(self, plan: Exec) -> int:
        """Before which instant a new user of this part does not get all that it should give."""
        return self._known(plan)

    def _until(self, plan: Exec) -> int:
        # A log of changes begins anew: what came before it began comes at its beginning.
        running = None if isinstance(plan, ChangesExec) else self._running.get(plan)
        if running is None:
            return self._new(plan)
        return max(running.latest_end, self._lacking.get(plan, BEGIN))

    def _of_one_more(self, plan: Exec) -> int:
        """What one more query of a shape lacks: parts that run have not seen its rows."""
        if not reads_constants(plan):
            return self.until(plan)
        missed = max(map(self._of_one_more, plan.children), default=BEGIN)
        return plan.through(missed) if missed > BEGIN else BEGIN

    def of_new_parts(self, plan: Exec) -> dict[Exec, int]:
        """For the parts of a plan that do not run yet, until when they lack something."""
        new = [node for node in nodes_of(plan) if node not in self._running]
        return {node: self.until(node) for node in new if self.until(node) > BEGIN}

    def _new(self, plan: Exec) -> int:
        """Of a part that does not run yet: what its own results lack."""
        if isinstance(plan, PickExec):
            return self._of_one_more(plan.child)
        if isinstance(plan, SourceExec):
            # Of a relation that changes, what was deleted before is not there any more.
            moves = plan.scan.kind in (SourceKind.STREAM, SourceKind.CHANGING)
            return self._newest.get(plan.scan.source, BEGIN) if moves else BEGIN
        missed = max(map(self.until, plan.children))
        return plan.through(missed) if missed > BEGIN else BEGIN
