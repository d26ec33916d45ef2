"""What tasks find out about the sources, and how the driver puts it together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.fragments import Edge, LateRowsExec, Mode, Stage, Staged
from tidemill.fragments.stages import EdgeExec
from tidemill.optimize.conditions import canonical
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec, ends, starts
from tidemill.runtime.conditions import Conditions
from tidemill.runtime.gathering import Gathering, Sample, countable
from tidemill.runtime.graph import Arrival, NodeProgress, nodes_of
from tidemill.runtime.sketch import Sketch
from tidemill.runtime.spark.inputs import SourceRows
from tidemill.runtime.spark.native import NativeRows, native_rows

Report = dict[str, Any]


def found_in(
    staged: Staged, stage: Stage, arrivals: Sequence[Arrival], partition: int
) -> dict[int, Report]:
    """What a task has seen of the rows of sources, by edge.

    Of rows that went through a filter only the number: what they have is not what the source has.
    """
    found: dict[int, Report] = {}
    for leaf, (rows, _) in zip(stage.leaves, arrivals, strict=True):
        native = _native(edge := staged.edge(leaf.tag))
        everywhere = edge.mode is Mode.BROADCAST and partition > 0
        if native is None or everywhere or rows.height == 0:
            continue
        found[leaf.tag] = {"rows": rows.height}
        if native.kept is None:
            sketches = {name: Sketch() for name in countable(rows, _plain(staged, edge, native))}
            for name, sketch in sketches.items():
                sketch.add(rows[name])
            found[leaf.tag] |= {
                "sample": asdict(Sample.of(starts(rows), ends(rows))),
                "columns": {name: sketch.dump() for name, sketch in sketches.items()},
            }
    return found


def _native(edge: Edge) -> NativeRows | None:
    """What rows of a source become on this edge; None if they come from elsewhere, or late."""
    if edge.made_at or isinstance(edge.producer, LateRowsExec):
        return None
    return native_rows(edge.producer)


def _plain(staged: Staged, edge: Edge, native: NativeRows) -> list[str]:
    """The columns of an edge that are columns of its source, and on no edge before it."""
    columns = _origins(native)
    for other in staged.edges:
        if other is edge:
            break
        before = None if other.is_result else _native(other)
        if (
            before
            and before.kept is None
            and before.source.scan.source == native.source.scan.source
        ):
            known = set(_origins(before).values())
            columns = {name: own for name, own in columns.items() if own not in known}
    return list(columns)


def _origins(native: NativeRows) -> dict[str, str]:
    """The columns of an edge that are columns of its source, and their names there."""
    alias = f"{native.source.scan.alias}."
    plain = {name: scalar for name, scalar in native.columns.items() if scalar.is_column}
    return {name: scalar.node.name.removeprefix(alias) for name, scalar in plain.items()}


def level_totals(reports: Sequence[Report]) -> dict[int, list[NodeProgress]]:
    """What the operators of each level have done, in all partitions."""
    totals: dict[int, list[NodeProgress]] = {}
    for report in reports:
        nodes = [NodeProgress(**facts) for facts in report["operators"]]
        known = totals.setdefault(report["level"], nodes)
        for old, new in zip(known, nodes, strict=True) if known is not nodes else ():
            old.merge(new)
    return totals


class Findings:
    """Puts together what tasks have found, and what is known from the ticks themselves."""

    def __init__(self, staged: Staged, gathering: Gathering) -> None:
        self._staged = staged
        self._gathering = gathering
        self._natives = {edge.tag: n for edge in staged.edges if (n := _native(edge)) is not None}
        self._conditions = {
            stage.level: Conditions(nodes_of(*(root for _, root in stage.outputs)), self._whole)
            for stage in staged.stages
        }
        self._arrived: Counter[str] = Counter()
        self._kept: Counter[int] = Counter()

    @property
    def statistics(self) -> Statistics:
        return self._gathering.statistics

    def note_rows(self, source: SourceRows, facts: Mapping[str, Any]) -> None:
        """Take note of how many rows of a source came in time, and for which time.

        (Those of a relation that changes come and go: they are not counted up.)
        """
        if source.is_changing:
            return
        rows = facts[f"rows{source.number}"] - facts[f"late{source.number}"]
        natives = [n for n in self._natives.values() if n.source.scan.source == source.name]
        # Without stages, Spark has dropped what no filter lets pass.
        complete = self._staged.stages or all(native.kept is None for native in natives)
        if rows and natives and complete:
            self._arrived[source.name] += rows
            known = self._gathering.of(source.name, natives[0].source.scan.kind)
            known.arrived(rows, facts[f"oldest{source.number}"], facts[f"newest{source.number}"])

    def note_held(self, source: str, rows: int) -> None:
        """Take note of how many rows a relation that changes has now."""
        self._gathering.of(source, SourceKind.CHANGING).rows = rows

    def note_reports(
        self, reports: Sequence[Report], totals: Mapping[int, Sequence[NodeProgress]]
    ) -> None:
        """Take note of what tasks have found in a tick, and of what operators have done so far."""
        for report in reports:
            for tag, found in report["found"].items():
                self._note(int(tag), found)
        for level, progress in totals.items():
            self._gathering.shares.update(self._conditions[level].shares(progress))

    def _note(self, tag: int, found: Report) -> None:
        native = self._natives[tag]
        scan = native.source.scan
        self._kept[tag] += found["rows"]
        if native.kept is None:
            names = _origins(native)
            sketches = {names[name]: text for name, text in found["columns"].items()}
            known = self._gathering.of(scan.source, scan.kind)
            known.sampled(Sample(**found["sample"]))
            known.sketched(sketches, found["rows"])
        elif (text := canonical(native.kept, native.source)) and self._arrived[scan.source]:
            self._gathering.shares[text] = self._kept[tag] / self._arrived[scan.source]

    def _whole(self, node: Exec) -> Plan | None:
        """The plan of an operator down to its sources."""
        below = [self._staged.edge(leaf.tag) for leaf in node.walk() if isinstance(leaf, EdgeExec)]
        if len(node.children) > 1 and any(edge.mode is Mode.BROADCAST for edge in below):
            return None  # rows were counted in every partition

        def whole(part: Plan) -> Plan:
            return self._staged.edge(part.tag).producer if isinstance(part, EdgeExec) else part

        return node.transform(whole)
