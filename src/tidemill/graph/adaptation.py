"""The sizes of a running graph: which ones queries allow, and how they change while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tidemill.algebra.plan import Plan
from tidemill.errors import TidemillError
from tidemill.graph.quality import (
    Granules,
    Knobs,
    Quality,
    SizeSetting,
    Wish,
    earliest_change,
    pruned,
    quality_of,
    recorded,
    resized,
    settings,
    settled_until,
    synchronised,
    with_knobs,
)
from tidemill.graph.query_graph import QueryGraph
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec
from tidemill.runtime.interface import Job, Root
from tidemill.timeline import BEGIN

Change = tuple[int, int]
"""From which instant on rows have which size."""


MOST_SETTINGS = 1000
"""So many sizes of a knob are remembered, and more as long as answers depend on them."""


class Adaptation:
    """The knobs of a graph: every window that has bounds gets one when its query is added."""

    def __init__(self, graph: QueryGraph) -> None:
        self._graph = graph
        self._wishes: dict[str, tuple[Wish, ...]] = {}
        self._knobs = Knobs()
        self._histories = {
            k: tuple(map(SizeSetting._make, each)) for k, each in graph.sizes.items()
        }
        self._narrowed: set[str] = set()
        graph.gates.append(self.taken)
        graph.after_revision.append(lambda carried: self._forget_gone())
        graph.after_revision.append(lambda carried: self._keep_bounds())
        graph.after_each_tick(self._keep_bounds)
        graph.after_refusal.append(self._begin_again)
        self._begin_again()

    def _begin_again(self) -> None:
        """Know what the queries that run allow, and no more: a plan may have been refused."""
        running = self._graph.running.items()
        self._wishes = {name: tuple(_wishes(name, query.job.plan)) for name, query in running}
        self._known()

    def taken(self, query: str, job: Job) -> Job:
        """A query that is added, or gets another plan, with knobs for its windows that have bounds.

        Knobs are shared with queries that have the same windows and allow the same sizes.
        """
        own = self._wishes.get(query, ())
        plan, self._wishes[query] = with_knobs(query, job.plan, self._knobs, own)
        self._narrowed |= {wish.knob for wish in self._wishes[query]}
        self._note(plan.walk())
        return replace(job, plan=plan)

    def _keep_bounds(self) -> None:
        """Set sizes that a new query does not allow to the nearest that it does."""
        knobs, self._narrowed = self._narrowed, set()
        allowed = {knob: self.allowed[knob] for knob in knobs if knob in self.allowed}
        sizes = {knob: self._histories[knob][-1].size for knob in allowed}
        nearest = {knob: allowed[knob].nearest(size) for knob, size in sizes.items()}
        outside = {knob: size for knob, size in nearest.items() if size != sizes[knob]}
        if not outside:
            return
        try:
            self.adapt(outside)
        except (TidemillError, OSError):
            # The query that came runs already. An error here would take it out of the graph only,
            # not out of the run: with a full disk, its sizes follow after a tick that succeeds.
            self._narrowed |= outside.keys()

    def _note(self, nodes: Iterable[Plan]) -> None:
        """Take note of the operators among these that have knobs."""
        parts = [node for node in nodes if isinstance(node, AdjustableExec)]
        self._knobs.note(parts)
        self._histories |= recorded(self._histories, parts)
        self._tell()

    def _tell(self) -> None:
        """Let the graph keep the sizes, with the plans that they are in."""
        known = self._histories.items()
        self._graph.sizes = {k: tuple((at, size) for at, size in each) for k, each in known}

    def _forget_gone(self) -> None:
        gone = self._wishes.keys() - self._graph.running.keys()
        for name in gone:
            del self._wishes[name]
        if gone:
            self._known()

    def _known(self) -> None:
        """What all queries together allow, and the operators of every knob."""
        self._knobs = Knobs(wish for wishes in self._wishes.values() for wish in wishes)
        self._note(self._graph.uses)
        self._histories = {k: v for k, v in self._histories.items() if k in self._knobs.allowed}
        self._tell()

    @property
    def allowed(self) -> Mapping[str, Quality]:
        """For every knob, what all queries allow that depend on it."""
        return self._knobs.allowed

    @property
    def users(self) -> Mapping[str, int]:
        """How many queries depend on each knob."""
        found: dict[str, int] = {}
        for wishes in self._wishes.values():
            for knob in {wish.knob for wish in wishes}:
                found[knob] = found.get(knob, 0) + 1
        return found

    @property
    def sizes(self) -> dict[str, int]:
        """The size of every knob that was set last."""
        return {knob: self._histories[knob][-1].size for knob in sorted(self._histories)}

    @property
    def all_histories(self) -> Mapping[str, tuple[SizeSetting, ...]]:
        """For every knob, its sizes and since which instants they were set."""
        return self._histories

    def histories(self, query: str) -> dict[str, tuple[SizeSetting, ...]]:
        """For every knob of a query, its sizes and since which instants they were set."""
        known = self._histories  # queries may go meanwhile
        knobs = {wish.knob for wish in self._wishes.get(query, ())}
        return {knob: known[knob] for knob in sorted(knobs & known.keys())}

    def settings(self, query: str, start: int, end: int) -> dict[str, list[SizeSetting]]:
        """The sizes that results of a query were computed with that hold in [start, end)."""
        return settings(self._graph.find(query).job.plan, self._histories, start, end)

    def adapt(self, sizes: Mapping[str, int], at: int = BEGIN) -> dict[str, Change]:
        """Set sizes for the rows that come from now on, or from `at` on; returns the instant."""
        with self._graph.lock:
            self._graph.finish()
            self._forget_gone()
            changes = self._changes(sizes, at)
            roots, carried = self._resized(changes)
            try:
                self._graph.replace(roots, carried)
            except (TidemillError, OSError):  # the disk may be full
                self._graph.refuse()
                raise
            if any(len(self._histories[knob]) > MOST_SETTINGS for knob in changes):
                self._prune()
            return changes

    def _prune(self) -> None:
        """Forget settings that answers about the time to come have nothing to do with."""
        running, jobs = self._graph.run.nodes, [q.job for q in self._graph.running.values()]
        start = min(settled_until(nodes, running) for nodes in self._knobs.nodes.values())
        self._histories = pruned(self._histories, [job.plan for job in jobs], start)

    def _changes(self, sizes: Mapping[str, int], at: int) -> dict[str, Change]:
        """From when on sizes can be set: not for rows that have come."""
        running = self._graph.run.nodes
        found = {}
        for knob, size in sizes.items():
            self._check(knob, size)
            nodes = self._knobs.nodes[knob]
            # Rows that came to a plan which is gone had a size there.
            since = max([at, *map(self._graph.took_over_at, nodes)])
            found[knob] = (earliest_change(nodes, size, since, running), size)
        return synchronised(self._with(found), found, self._knobs.allowed)

    def _resized(self, changes: Mapping[str, Change]) -> tuple[dict[str, Root], dict[Exec, Exec]]:
        """The queries that change, with other plans, and what each new part was before."""
        old = {name: query.root for name, query in self._graph.running.items()}
        running = self._graph.run.nodes
        settled = {knob: settled_until(self._knobs.nodes[knob], running) for knob in changes}
        plans, carried = resized({n: root.job.plan for n, root in old.items()}, changes, settled)
        jobs = {n: replace(old[n].job, plan=p) for n, p in plans.items()}
        roots = {
            n: replace(old[n], job=job)
            for n, job in jobs.items()
            if job.plan is not old[n].job.plan
        }
        for name, root in roots.items():
            if root.running is not root.job.plan:
                carried |= _succeeding(root.running, old[name].running)
        self._knobs.forget(carried.values())
        for root in roots.values():
            self._note([*root.job.plan.walk(), *root.running.walk()])
        return roots, carried

    def _with(self, changes: Mapping[str, Change]) -> Iterable[Exec]:
        """Plans in which granularities change."""
        granules = {knob for knob in changes if isinstance(self._knobs.allowed[knob], Granules)}
        for name, wishes in self._wishes.items() if granules else ():
            if any(wish.knob in granules for wish in wishes):
                yield self._graph.find(name).job.plan

    def _check(self, knob: str, size: int) -> None:
        allowed = self.allowed.get(knob)
        if allowed is None:
            help = f"knobs: {', '.join(self._knobs.allowed) or 'none'}"
            raise TidemillError(f"no query lets the size `{knob}` be changed", help=help)
        if allowed.nearest(size) != size:
            raise TidemillError(
                f"the size {size} of `{knob}` is not allowed by all queries that depend on it",
                help=f"the nearest that is: {allowed.nearest(size)}",
            )


def _succeeding(new: Exec, old: Exec) -> dict[Exec, Exec]:
    """What each part was before: a form may change every part, another size none."""
    parts = zip(new.walk(), old.walk(), strict=True)
    return {n: o for n, o in parts if isinstance(n, Exec) and isinstance(o, Exec) and n != o}


def _wishes(query: str, plan: Exec) -> Iterable[Wish]:
    for node in plan.walk():
        if isinstance(node, AdjustableExec) and node.knob and node.bounds is not None:
            yield Wish(query, node.bounds.window, node.knob, quality_of(node, node.bounds))
