"""The migrations of a running graph: how they begin, go on and end, as revisions of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tidemill.algebra.plan import nodes_of
from tidemill.errors import ExecutionError, PlanError, TidemillError
from tidemill.graph.join_inputs import RunningJoins
from tidemill.graph.migration import (
    Migration,
    Phase,
    groups,
    hand_overs,
    split_time,
    variant_for,
)
from tidemill.graph.plan_matching import differing, merged, projected, substituted, successors
from tidemill.graph.query_graph import Gate, GraphQuery, QueryGraph
from tidemill.graph.telling import eager, is_made_eager, no_longer, telling
from tidemill.physical.facts import NEVER
from tidemill.physical.operator import Exec
from tidemill.physical.operators.net_changes import ChangesExec
from tidemill.physical.operators.snapshot import SnapshotExec
from tidemill.runtime.interface import Job, Root
from tidemill.timeline import BEGIN


class Migrations:
    """Lets queries of a graph go on with other plans, without a gap in their answers.

    Both plans run until the time of the streams has passed the split. Then the old one goes. New
    plans are `taken` with sizes of windows as they are in force.
    """

    def __init__(self, graph: QueryGraph, taken: Gate | None = None) -> None:
        self._graph = graph
        self._taken: Gate = taken or (lambda name, job: job)
        # Those that a checkpoint has left in the middle go on.
        plans = {name: plan_of(query.job) for name, query in graph.queries.items()}
        self.of = {n: _resumed(n, plan) for n, plan in plans.items() if hand_overs(plan)}
        graph.after_each_tick(self._go_on)
        graph.after_revision.append(lambda carried: self._follow())

    def start(
        self, name: str, plan: Exec, same_meaning: bool = True, meaning: str | None = None
    ) -> Migration:
        """Let a query go on with another plan.

        Plans with the `same_meaning` give the same snapshots of the same streams; else the query
        means something else from the split on, which a checkpoint knows by its `meaning`.
        """
        with self._graph.lock:
            self._graph.finish()
            query = self._free(name)
            try:
                migration = self._begun(query, plan_of(self._prepared(query, plan)), same_meaning)
                self._hand_over(query, migration, meaning)
            except (TidemillError, OSError):
                self._graph.refuse()
                raise
            self.of[name] = migration
            if not hand_overs(migration.handing_over):
                migration.end(self._graph.run.ticks)
            return migration

    def _hand_over(self, query: GraphQuery, migration: Migration, meaning: str | None) -> None:
        before, query.meaning = query.meaning, query.meaning if meaning is None else meaning
        # Another query may be on its way between the same plans; projections keep them apart.
        for _ in self._graph.queries:
            if self._switched({query.name: migration.handing_over}, migration.made_eager):
                return
            migration.handing_over = projected(migration.handing_over, 1)
        query.meaning = before
        raise _in_two_ways(query.name)

    def _free(self, name: str) -> GraphQuery:
        query = self._graph.find(name)
        if not self._graph.is_running(name):
            raise ExecutionError(f"the query `{name}` is not running", help="start it first")
        known = self.of.get(name)
        if known is not None and known.is_running:
            raise ExecutionError(
                f"the query `{name}` is migrating to another plan until {known.split}",
                help="wait until the watermark of its streams has passed that instant, or stop it",
            )
        return query

    def _prepared(self, query: GraphQuery, plan: Exec) -> Job:
        """A new plan in the words of the graph. Joins that others need keep their orders."""
        job = replace(query.job, plan=self._graph.matched(plan, refills=False))
        job = self._taken(query.name, job)
        joins = RunningJoins()
        for name, other in self._graph.running.items():
            if name != query.name:
                joins.note(other.job.plan)
        return replace(job, plan=joins.adopted(job.plan))

    def _begun(self, query: GraphQuery, new: Exec, same_meaning: bool) -> Migration:
        old, running = plan_of(query.job), self._graph.run.nodes
        variant = variant_for(old, new, same_meaning)
        split = NEVER
        # Deep in the plan, as much as possible goes on. At the top, the least has to be known.
        for goes_on in (self._goes_on(query), _nothing_goes_on):
            pairs = differing(old, new, goes_on)
            if pairs is None:
                raise _other_columns(query.name, old, new)
            splits = [split_time(variant, running[a], self._missed(b)) for a, b in pairs]
            split = max(splits, default=BEGIN)
            if split < NEVER:
                break
        else:
            raise _never(query.name)
        plan = merged(old, new, goes_on, lambda a, b: variant(a, eager(b, running), split))
        assert plan is not None
        # Parts of the new plan that run already have to tell how far they have come.
        new_parts = [part for _, part in pairs if is_made_eager(part, running)]
        made_eager = {a: b for part in new_parts for a, b in telling(part, running).items()}
        tick, plan = self._graph.run.ticks, substituted(plan, made_eager)
        return Migration(query.name, old, new, split, plan, tick, made_eager)

    def _missed(self, new: Exec) -> int:
        goes_on = is_made_eager(new, self._graph.run.nodes)
        return self._graph.missed(new if goes_on else new.with_eager(True))

    def _goes_on(self, query: GraphQuery) -> Callable[[Exec, Exec], bool]:
        """Whether an operator can go on in another place: no one else may need it or the place."""
        uses, running = self._graph.uses, self._graph.run.nodes

        def goes_on(old: Exec, new: Exec) -> bool:
            alone = uses.queries(old) == (query.name,)
            return alone and (old == new or new not in running)

        return goes_on

    @property
    def _running(self) -> list[Migration]:
        return [each for each in self.of.values() if each.is_running]

    def _go_on(self) -> None:
        for migration in self._running:
            if not self._graph.is_running(migration.query):
                migration.end(self._graph.run.ticks, Phase.CANCELLED)
                self._switched({}, no_longer([migration], self._running, self._graph.uses))
        for group in groups(self._running):
            if all(self._is_done(migration) for migration in group):
                self._finish(group)

    def _follow(self) -> None:
        """Take note of other changes made meanwhile, such as sizes of windows."""
        for migration in self._running:
            plan, before = plan_of(self._graph.find(migration.query).job), migration.handing_over
            if plan != before and hand_overs(plan):
                if _new(plan) != _new(before):
                    migration.new = _new(plan).with_eager(False)
                migration.old, migration.handing_over = _old(plan), plan

    def _is_done(self, migration: Migration) -> bool:
        """Whether the new plan has passed the split, and the old one delivered all before it."""
        running = self._graph.run.nodes
        places = hand_overs(migration.handing_over)
        if any(running[place.new].watermark < migration.split for place in places):
            return False
        behind = [p.old for p in places if running[p.old].watermark < migration.split]
        if behind:
            self._drain(migration, behind)
        return not behind and not any(running[place].state_rows for place in places)

    def _drain(self, migration: Migration, behind: list[Exec]) -> None:
        """Have open results of the old plan cut, whoever else needs them."""
        uses = self._graph.uses
        told = {a: b for part in behind for a, b in telling(part, uses).items()}
        if told and self._switched({}, told):
            migration.made_eager |= told

    def _finish(self, group: Sequence[Migration]) -> None:
        for migration in group:
            for place in hand_overs(migration.handing_over):
                self._graph.note_take_over(place.new, migration.split)
        others = [each for each in self._running if each not in group]
        plans = {migration.query: migration.new for migration in group}
        done = self._switched(plans, no_longer(group, others, self._graph.uses))
        # If somebody else has begun with parts of the new plans, they stay apart: as they are now,
        # over projections that tell them from the others.
        for projections in range(len(self._graph.queries)):
            plans = {each.query: _new(each.handing_over, projections) for each in group}
            done = done or self._switched(plans, {})
        if done:
            for migration in group:
                migration.end(self._graph.run.ticks)

    def _switched(self, plans: Mapping[str, Exec], parts: Mapping[Exec, Exec]) -> bool:
        """Let queries go on with these plans, and others with some parts replaced; whether it can
        be done so that no operator is needed in two places."""
        jobs = {n: replace(self._graph.find(n).job, plan=plan) for n, plan in plans.items()}
        users = {name for part in parts for name in self._graph.uses.queries(part)}
        for name in users - jobs.keys():
            job = self._graph.find(name).job
            jobs[name] = replace(job, plan=substituted(job.plan, dict(parts)))
        before = {name: self._graph.find(name).root for name in jobs}
        roots = {name: replace(before[name], job=job) for name, job in jobs.items()}
        carried: dict[Exec, Exec] = {}
        for name, root in roots.items():
            carried |= successors(root.running, before[name].running)
        staying = self._staying(roots, carried)
        # What forms give can be copied.
        collides = any(not isinstance(old, ChangesExec | SnapshotExec) for old in staying)
        if collides or any(new in self._graph.run.nodes for new in carried):
            return False
        self._graph.replace(roots, {**carried, **{old: old for old in staying}})
        return True

    def _staying(self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec]) -> list[Exec]:
        """Operators that are needed in their old places, too."""
        changed = set(nodes_of(*(root.running for root in roots.values())))
        uses = self._graph.uses
        users = {old: set(uses.queries(old)) for old in carried.values()}
        return [old for old in users if old in changed or not roots.keys() >= users[old]]


def plan_of(job: Job) -> Exec:
    """The plan of a query as its parts run."""
    running = job.running
    if isinstance(running, ChangesExec | SnapshotExec):
        return running.child
    return running


def _resumed(name: str, plan: Exec) -> Migration:
    split = max(place.split for place in hand_overs(plan))
    return Migration(name, _old(plan), _new(plan).with_eager(False), split, plan, started=0)


def _old(plan: Exec) -> Exec:
    """The plan without what is new."""
    return substituted(plan, {place: place.old for place in hand_overs(plan)})


def _new(plan: Exec, projections: int = 0) -> Exec:
    """The plan with a number of projections in the place of what is old."""
    return substituted(plan, {p: projected(p.new, projections) for p in hand_overs(plan)})


def _nothing_goes_on(old: Exec, new: Exec) -> bool:
    return False


def _in_two_ways(name: str) -> TidemillError:
    return ExecutionError(
        f"parts of the new plan of `{name}` run in two ways already",
        help="try again when fewer queries share them",
    )


def _other_columns(name: str, old: Exec, new: Exec) -> TidemillError:
    columns = ", ".join(f"{field.name} {field.type}" for field in old.schema)
    found = ", ".join(f"{field.name} {field.type}" for field in new.schema)
    return PlanError(
        f"the query `{name}` has the columns {columns}; the new plan has {found}",
        help="give the new columns these names and types, or start another query",
    )


def _never(name: str) -> TidemillError:
    return PlanError(
        f"the query `{name}` cannot continue with this plan: it needs rows that came before",
        help="windows over rows, and unbounded ones, keep rows for ever: let the new plan have the "
        "same ones, over the same rows, or start another query with partial=True beside it",
    )
