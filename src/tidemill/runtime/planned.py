"""An epoch made ready for its ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from tidemill.algebra.plan import nodes_of
from tidemill.fragments import LateRowsExec, Stage
from tidemill.fragments.homes import Home, Homes
from tidemill.fragments.stages import EdgeExec
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.clock import Clocks
from tidemill.runtime.epochs import Epoch
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.reports import Report, TaskFailure, gathered
from tidemill.runtime.stage_task import Former, Handover
from tidemill.timeline import BEGIN


class PlannedEpoch:
    """What the ticks of an epoch do, and what the first of them takes over."""

    def __init__(self, epoch: Epoch) -> None:
        self.epoch = epoch
        self.staged = epoch.staging.staged

    @cached_property
    def leaves(self) -> list[SourceExec]:
        """The readings of sources, each once."""
        native = (edge.producer for edge in self.staged.edges if not edge.made_at)
        nodes = (node for producer in native for node in producer.walk())
        return list(dict.fromkeys(node for node in nodes if isinstance(node, SourceExec)))

    @cached_property
    def native_nodes(self) -> list[Exec]:
        """The parts that run next to the sources, in the order in which tasks tell of them."""
        native = [edge.producer for edge in self.staged.edges if not edge.made_at]
        return nodes_of(*(each for each in native if not isinstance(each, LateRowsExec)))

    @cached_property
    def fresh(self) -> frozenset[SourceExec]:
        """The readings that begin with the first tick."""
        return frozenset(leaf for leaf in self.leaves if leaf not in self.epoch.before.placed)

    def handovers(self, reports: Sequence[Report]) -> dict[int, Handover]:
        """By level, which operators go on in others' place. Where nothing changes, none do."""
        old, carried = self.epoch.before.staged, self.epoch.carried
        formers = {
            stage.level: Former(old, stage, gathered(reports, stage.level)) for stage in old.stages
        }
        levels = {node: stage.level for stage in old.stages for node in _nodes(stage)}
        homes = Homes(self.epoch.staging) if self.epoch.deals else None
        found = {}
        for stage in self.staged.stages:
            known = formers.get(stage.level)
            if known is None or known.stage != stage or homes is not None:
                # With another input, an operator may have come to another level.
                before = (levels.get(carried.get(node, node), 0) for node in _nodes(stage))
                there = tuple(formers[level] for level in sorted(set(before)) if level)
                partitions = self.epoch.before.partitions
                places = None if homes is None else _homes(stage, homes)
                found[stage.level] = Handover(there, carried, places, partitions)
        return found

    def promised(self, totals: Mapping[Exec, OperatorProgress], clocks: Clocks) -> dict[int, int]:
        """The watermarks of new edges behind which time must not go back in the first tick.

        What was promised to an operator still holds when its rows come another way. The totals are
        those of the operators that ran until now.
        """
        old = self.epoch.before.staged
        known = {edge.tag for edge in old.edges}

        def mark_of(part: Exec | None) -> int:
            if isinstance(part, EdgeExec) and not old.edge(part.tag).made_at:
                return max(clocks[name].mark for name in old.sources_of(part.tag))
            known = None if part is None else totals.get(part)
            return BEGIN if known is None else known.watermark

        found = {}
        for edge in self.staged.edges:
            if edge.made_at and edge.tag not in known and not edge.is_result:
                maker = self.epoch.staging.locals[edge.producer]
                before = self.epoch.carried.get(maker, maker)
                found[edge.tag] = max(mark_of(before), mark_of(self.epoch.inputs.get(edge.tag)))
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

    def failed(self, reports: Sequence[Report]) -> dict[str, TaskFailure]:
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
                leaves = [node.tag for node in root.walk() if isinstance(node, EdgeExec)]
                reasons = [failed[leaf] for leaf in leaves if leaf in failed]
                reasons += [each[tag] for each in told if tag in each]
                if reasons:
                    failed[tag] = reasons[0]
        tags = self.epoch.tags.items()
        return {name: failed[tag] for name, tag in tags if tag in failed}


def _homes(stage: Stage, homes: Homes) -> tuple[tuple[Home, ...], ...]:
    """Where the rows of the inputs of every part of a stage are."""
    nodes = nodes_of(*(root for _, root in stage.outputs))
    return tuple(tuple(homes.of_inputs(node)) for node in nodes)


def _nodes(stage: Stage) -> list[Exec]:
    """The operators of a stage."""
    return [node for node in nodes_of(*(root for _, root in stage.outputs)) if node.children]
