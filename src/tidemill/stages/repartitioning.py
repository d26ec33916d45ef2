"""Going on with another number of partitions: what was remembered is repartitioned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tidemill.physical.operator import Exec
from tidemill.stages.distribution import Distributions
from tidemill.stages.staging import Staging


@dataclass(frozen=True)
class Repartitioned:
    """The staging for another number of partitions; `carried` are old operators by new ones.

    If there is a `reason` against it, things have to stay as they are.
    """

    staging: Staging
    carried: dict[Exec, Exec] = field(default_factory=dict)
    reason: str | None = None


def repartitioned(old: Staging, plans: Sequence[Exec], partitions: int) -> Repartitioned:
    """The same plans in another number of partitions."""
    if old.partitions > 1 or old.exchanges or partitions == 1:
        new = replace(old, partitions=partitions, exchanges=old.exchanges or old.partitions > 1)
        alone = old.partitions == partitions == 1
        return Repartitioned(new, {}, None if alone else _reason(new, old.partitions))
    fresh = Staging(partitions, exchanges=True, whole=True, next_tag=old.next_tag)
    new = fresh.then(plans)
    before = {old.bare(plan): local for plan, local in old.locals.items()}
    places = ((local, before.get(new.bare(plan))) for plan, local in new.locals.items())
    carried = {local: known for local, known in places if known is not None}
    lost = set(old.locals.values()) - set(carried.values())
    reason = next((_whole(node) for node in lost), None)
    return Repartitioned(new, carried, reason or _reason(new, old.partitions))


def _reason(new: Staging, before: int) -> str | None:
    """Why the state cannot be repartitioned, given the number of partitions before."""
    distributions = Distributions(new)
    for stage in new.staged.stages:
        for node in (node for _, root in stage.outputs for node in root.walk()):
            if isinstance(node, Exec) and node.children:
                reason = _reason_of(node, distributions, before, new.partitions)
                if reason is not None:
                    return reason
    return None


def _reason_of(
    node: Exec, distributions: Distributions, before: int, partitions: int
) -> str | None:
    inputs = distributions.all_inputs(node)
    apart = not all(distribution.single or distribution.everywhere for distribution in inputs)
    if apart and node.is_whole:
        return _whole(node)
    if not apart or before % partitions == 0:
        return None
    # Rows are told apart by a number that depends on the partition in which they got it.
    numbered = zip(inputs, distributions.of_inputs(node), strict=True)
    if any(distribution.ways and not known.ways for distribution, known in numbered):
        return f"{node.label} knows rows by numbers that do not tell their partition"
    return None


def _whole(node: Exec) -> str:
    return f"{node.label} keeps what counts among the rows of its partition, and not the others"
