"""An epoch made ready for its ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from tidemill.algebra.plan import nodes_of
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.clock import Clocks
from tidemill.runtime.epochs import Epoch
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.reports import TaskFailure, TaskReport, gathered
from tidemill.runtime.stage_task import Former, Handover
from tidemill.stages import LateRowsExec, Stage
from tidemill.stages.distribution import Distribution, Distributions
from tidemill.stages.stages import ReceiveExec
from tidemill.timeline import BEGIN


class PlannedEpoch:
    """What the ticks of an epoch do, and what the first of them takes over."""

    def __init__(self, epoch: Epoch) -> None:
        self.epoch = epoch
        self.staged = epoch.staging.staged

    @cached_property
    def leaves(self) -> list[SourceExec]:
        """The readings of sources, each once."""
        native = (exchange.producer for exchange in self.staged.exchanges if not exchange.made_at)
        nodes = (node for producer in native for node in producer.walk())
        return list(dict.fromkeys(node for node in nodes if isinstance(node, SourceExec)))

    @cached_property
    def native_nodes(self) -> list[Exec]:
        """The parts that run next to the sources, in the order in which tasks tell of them."""
        native = [exchange.producer for exchange in self.staged.exchanges if not exchange.made_at]
        return nodes_of(*(each for each in native if not isinstance(each, LateRowsExec)))

    @cached_property
    def fresh(self) -> frozenset[SourceExec]:
        """The readings that begin with the first tick."""
        return frozenset(leaf for leaf in self.leaves if leaf not in self.epoch.before.placed)

    def handovers(self, reports: Sequence[TaskReport]) -> dict[int, Handover]:
        """By level, which operators go on in others' place. Where nothing changes, none do."""
        old = self.epoch.before.staged
        formers = {
            stage.level: Former(old, stage, gathered(reports, stage.level)) for stage in old.stages
        }
        distributions = Distributions(self.epoch.staging) if self.epoch.repartitions else None
        wanted = self._wanted({level: former.stage for level, former in formers.items()})
        lending = frozenset(one for level, levels in wanted.items() for one in levels - {level})
        return {
            stage.level: Handover(
                tuple(formers[one] for one in sorted(wanted.get(stage.level, {stage.level}))),
                self.epoch.carried,
                None if distributions is None else _distributions(stage, distributions),
                self.epoch.before.partitions,
                lending,
            )
            for stage in self.staged.stages
            if stage.level in wanted or stage.level in lending
        }

    def _wanted(self, formers: Mapping[int, Stage]) -> dict[int, set[int]]:
        """By the levels of stages that change, those on which their operators were before."""
        carried = self.epoch.carried
        # With another input, an operator may have come to another level.
        levels = {node: level for level, stage in formers.items() for node in _nodes(stage)}
        return {
            stage.level: {levels.get(carried.get(node, node), 0) for node in _nodes(stage)} - {0}
            for stage in self.staged.stages
            if formers.get(stage.level) != stage or self.epoch.repartitions
        }

    def promised(self, totals: Mapping[Exec, OperatorProgress], clocks: Clocks) -> dict[int, int]:
        """The watermarks that new exchanges must not fall below in the first tick.

        What was promised to an operator still holds when its rows come another way. The totals are
        those of the operators that ran until now.
        """
        old = self.epoch.before.staged
        known = {exchange.tag for exchange in old.exchanges}

        def mark_of(part: Exec | None) -> int:
            if isinstance(part, ReceiveExec) and not old.exchange(part.tag).made_at:
                return max(clocks[name].mark for name in old.sources_of(part.tag))
            known = None if part is None else totals.get(part)
            return BEGIN if known is None else known.watermark

        found = {}
        for exchange in self.staged.exchanges:
            if exchange.made_at and exchange.tag not in known and not exchange.is_result:
                maker = self.epoch.staging.locals[exchange.producer]
                before = self.epoch.carried.get(maker, maker)
                found[exchange.tag] = max(
                    mark_of(before), mark_of(self.epoch.inputs.get(exchange.tag))
                )
        return found

    def reading(self, broken: Mapping[str, TaskFailure]) -> dict[str, TaskFailure]:
        """The queries that read a source that is broken."""
        if not broken:
            return {}
        found: dict[str, TaskFailure] = {}
        for name, root in self.epoch.roots.items():
            leaves = (node for node in root.job.plan.walk() if isinstance(node, SourceExec))
            reasons = [broken[n.scan.source] for n in leaves if n.scan.source in broken]
            found |= {name: reasons[0]} if reasons else {}
        return found

    def failed(self, reports: Sequence[TaskReport]) -> dict[str, TaskFailure]:
        """The queries to whose results something is missing."""
        failed: dict[int, TaskFailure] = {}
        for report in reports:
            if not report.level:
                failed |= report.failures
        if not failed and not any(report.failures for report in reports):
            return {}
        for stage in self.staged.stages:
            told = [report.failures for report in reports if report.level == stage.level]
            for tag, root in stage.outputs:
                leaves = [node.tag for node in root.walk() if isinstance(node, ReceiveExec)]
                reasons = [failed[leaf] for leaf in leaves if leaf in failed]
                reasons += [each[tag] for each in told if tag in each]
                if reasons:
                    failed[tag] = reasons[0]
        tags = self.epoch.tags.items()
        return {name: failed[tag] for name, tag in tags if tag in failed}


def _distributions(
    stage: Stage, distributions: Distributions
) -> tuple[tuple[Distribution, ...], ...]:
    """Where the rows of the inputs of every part of a stage are."""
    nodes = nodes_of(*(root for _, root in stage.outputs))
    return tuple(tuple(distributions.of_inputs(node)) for node in nodes)


def _nodes(stage: Stage) -> list[Exec]:
    """The operators of a stage."""
    return [node for node in nodes_of(*(root for _, root in stage.outputs)) if node.children]
